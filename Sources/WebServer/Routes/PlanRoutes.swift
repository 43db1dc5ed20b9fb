import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/plan`, and the sending hours of services.
struct PlanRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/plan",
                operation: "readPlan",
                summary: "When the messages of a delivery may leave, and how far its waves are",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "DeliveryPlan"],
                problems: [.notFound],
                handle: read
            ),
            APIRoute(
                method: .put,
                path: "/deliveries/{id}/plan",
                operation: "replacePlan",
                summary: "Replace the plan of a delivery that has sent nothing",
                details:
                    "Waves, a moment on each recipient's clock, and what happens outside of the sending hours. An empty object removes the plan. An analysis is dropped. A plan that does not fit into the validity is refused here if the delivery is scheduled, otherwise at its start.",
                scope: .writeDeliveries,
                body: .required(schema: "DeliveryPlanBody"),
                parameters: [APIRoute.idParameter],
                answers: [200: "DeliveryPlan"],
                problems: [.notFound, .conflict],
                handle: replace
            ),
            APIRoute(
                method: .get,
                path: "/services/{name}/hours",
                operation: "readSendingHours",
                summary: "When messages of a service may leave, in each recipient's time zone",
                details:
                    "Operators set them, with pushmta service hours or in the console. The key must allow an application of the service.",
                scope: .readApplications,
                parameters: [APIRoute.nameParameter],
                answers: [200: "SendingHours"],
                problems: [.notFound],
                handle: readHours
            ),
        ]
    }

    private func read(_ call: APICall) async throws -> APIReply {
        APIReply(.ok, try await database.withDelivery(of: call) { try await Self.plan($1, $0) })
    }

    private func replace(_ call: APICall) async throws -> APIReply {
        let plan = try DeliveryPlanBody(call.body).plan
        let json = try await database.withDelivery(of: call) { store, id in
            try await store.setPlan(ofDelivery: id, plan)
            return try await Self.plan(id, store)
        }
        return APIReply(.ok, json)
    }

    private func readHours(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let name = try call.name("service")
        let hours = try await database.run { store in
            try await store.requireService(name, for: call)
            return try await store.sendingHours(ofService: name)
        }
        return APIReply(.ok, Self.hoursJSON(name, hours))
    }

    private static func plan(_ id: Int64, _ store: Store) async throws -> JSONValue {
        let row = try await store.plan(ofDelivery: id)
        return .members(
            ("deliveryId", .integer(id)),
            ("localTime", .text(row?.localTime)),
            ("onPast", .text(row?.onPast?.rawValue)),
            ("hours", .text(row?.hours?.rawValue)),
            ("plannedMessages", .integer(row?.plannedMessages ?? 0)),
            ("nextAt", .time(row?.nextAt)),
            ("unknownZones", .integer(row?.unknownZones ?? 0)),
            ("waves", .array((row?.waves ?? []).map(waveJSON)))
        )
    }

    private static func waveJSON(_ wave: DeliveryWaveRow) -> JSONValue {
        .members(
            ("number", .integer(wave.number)),
            ("percent", number(wave.percent)),
            ("count", wave.count.map { JSONValue.integer($0) } ?? .null),
            ("startAt", .time(wave.startsAt)),
            ("afterSeconds", wave.afterSeconds.map { JSONValue.integer(Int64($0)) } ?? .null),
            ("maxFailed", number(wave.maxFailed)),
            ("maxTokenErrors", number(wave.maxTokenErrors)),
            ("maxOptOuts", number(wave.maxOptOuts)),
            ("state", .string(wave.state.rawValue)),
            ("openedAt", .time(wave.openedAt)),
            ("heldAt", .time(wave.heldAt)),
            ("messages", .integer(wave.messages)),
            ("sent", .integer(wave.sent)),
            ("failed", .integer(wave.failed)),
            ("unknown", .integer(wave.unknown))
        )
    }

    private static func number(_ value: Double?) -> JSONValue { value.map { JSONValue.number("\($0)") } ?? .null }

    private static func hoursJSON(_ service: String, _ hours: SendingHours) -> JSONValue {
        .members(
            ("service", .string(service)),
            ("timeZone", .string(hours.timeZone)),
            ("outside", .string(hours.outside.rawValue)),
            (
                "hours",
                .array(
                    hours.hours.map { line in
                        JSONValue.members(
                            ("weekdays", .array(line.weekdays.map { JSONValue.integer($0) })),
                            ("opens", .string(line.opens)),
                            ("closes", .string(line.closes))
                        )
                    }
                )
            ),
            ("daysOff", .texts(hours.daysOff))
        )
    }
}
