import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/experiment` and `/conversions`: variants of a delivery's content, their results, and the winner.
struct ExperimentRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .put,
                path: "/deliveries/{id}/experiment",
                operation: "setExperiment",
                summary: "Make a delivery an experiment",
                details:
                    "Each variant goes to a percentage of the people, who stay in it on all of their devices. What is left is the rest: it waits for the winner, which is decided decideAfterSeconds after the start, or earlier (early) as soon as a variant is surely better than all others. The hold-out gets nothing. The experiment is replaced as a whole, and an analysis of the delivery is dropped.",
                scope: .writeDeliveries,
                body: .required(schema: "ExperimentRule"),
                parameters: [APIRoute.idParameter],
                answers: [200: "Experiment"],
                problems: [.notFound, .conflict],
                handle: set
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/experiment",
                operation: "readExperiment",
                summary: "The experiment of a delivery: its variants, their results, and the conclusion",
                details:
                    "Results are counted every few seconds at first, more slowly later, and until seven days after the delivery has ended.",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "Experiment"],
                problems: [.notFound],
                handle: read
            ),
            APIRoute(
                method: .delete,
                path: "/deliveries/{id}/experiment",
                operation: "removeExperiment",
                summary: "Make an experiment an ordinary delivery",
                scope: .writeDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [204: ""],
                problems: [.notFound, .conflict],
                handle: remove
            ),
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/winner",
                operation: "chooseWinner",
                summary: "Send a variant to the rest of an experiment",
                details:
                    "It ends the experiment. The rest of a paused delivery gets the variant when the delivery is resumed. It is refused with 409 if the experiment has a winner or has not begun.",
                scope: .writeDeliveries,
                body: .required(schema: "Winner"),
                parameters: [APIRoute.idParameter],
                answers: [200: "Experiment"],
                problems: [.notFound, .conflict],
                handle: choose
            ),
            APIRoute(
                method: .post,
                path: "/conversions",
                operation: "recordConversion",
                summary: "Record that the recipient of a message did what it was sent for",
                details:
                    "The first of a name counts for each message, and at most ten names; others change nothing, so that the call is safe to repeat.",
                scope: .writeConversions,
                body: .required(schema: "NewConversion"),
                answers: [200: "Conversion"],
                problems: [.notFound],
                handle: record
            ),
        ]
    }

    private func set(_ call: APICall) async throws -> APIReply {
        let rule = try ExperimentBody(call.body).rule
        let json = try await database.withDelivery(of: call) { store, id in
            try await store.setExperiment(id, rule)
            return try await Self.experiment(id, store)
        }
        return APIReply(.ok, json)
    }

    private func read(_ call: APICall) async throws -> APIReply {
        APIReply(.ok, try await database.withDelivery(of: call) { try await Self.experiment($1, $0) })
    }

    private func remove(_ call: APICall) async throws -> APIReply {
        try await database.withDelivery(of: call) { store, id in
            guard try await store.experiment(ofDelivery: id) != nil else { throw Self.noExperiment(id) }
            try await store.removeExperiment(id)
        }
        return APIReply(.noContent)
    }

    private func choose(_ call: APICall) async throws -> APIReply {
        var reader = JSONReader(call.body)
        let variant = reader.integer("variant", 1...Int32(ExperimentRule.variantCounts.upperBound))
        if variant == nil, reader.faults.isEmpty { reader.note("variant", "it is missing") }
        try reader.close()
        let json = try await database.withDelivery(of: call) { store, id in
            guard try await store.experiment(ofDelivery: id) != nil else { throw Self.noExperiment(id) }
            try await store.chooseWinner(id, variant: variant ?? 0)
            return try await Self.experiment(id, store)
        }
        return APIReply(.ok, json)
    }

    private func record(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let conversion = try ConversionBody(call.body)
        let applications = call.applications
        let counts = try await database.run { store in
            try await store.recordConversion(
                message: conversion.message,
                name: conversion.name,
                value: conversion.value,
                delivery: conversion.delivery,
                applications: applications
            )
        }
        return APIReply(.ok, .members(("counts", .boolean(counts))))
    }

    private static func noExperiment(_ id: Int64) -> APIProblem { .notFound("experiment of delivery \(id)") }

    private static func experiment(_ id: Int64, _ store: Store) async throws -> JSONValue {
        guard let row = try await store.experiment(ofDelivery: id) else { throw noExperiment(id) }
        return json(row, try await store.experimentVariants(ofDelivery: id))
    }

    private static func json(_ row: ExperimentRow, _ variants: [ExperimentVariantRow]) -> JSONValue {
        .members(
            ("deliveryId", .integer(row.deliveryID)),
            ("state", .string(row.state.rawValue)),
            ("metric", .string(row.metric.rawValue)),
            ("decideAfterSeconds", row.decideAfterSeconds.map { JSONValue.integer($0) } ?? .null),
            ("early", .boolean(row.isEarly)),
            ("certaintyPercent", .double(row.certaintyPercent)),
            ("leastSample", .integer(row.leastSample)),
            ("holdOutPercent", .double(row.holdOutPercent)),
            ("ifUndecided", .string(row.ifUndecided.rawValue)),
            ("winner", row.winner.map { JSONValue.integer($0) } ?? .null),
            ("decidesAt", .time(row.decidesAt)),
            ("decidedAt", .time(row.decidedAt)),
            ("decision", .filledText(row.decision)),
            ("countedAt", .time(row.countedAt)),
            ("variants", .array(variants.filter { !$0.isRest }.map(variantJSON))),
            ("rest", variants.first(where: \.isRest).map(variantJSON) ?? .null)
        )
    }

    private static func variantJSON(_ row: ExperimentVariantRow) -> JSONValue {
        .members(
            ("variant", row.isRest ? .null : .integer(row.variant)),
            ("label", .string(row.label)),
            ("percent", .double(row.percent)),
            ("messages", .integer(row.messages)),
            ("sent", .integer(row.sent)),
            ("received", .integer(row.received)),
            ("clicked", .integer(row.clicked)),
            ("converted", .integer(row.converted)),
            ("againstFirst", .text(row.againstFirst)),
            ("content", .stored(row.content))
        )
    }
}
