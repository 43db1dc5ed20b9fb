import HTTPTypes
import PushCore
import Store

/// `/deliveries/{id}/analysis`: prepare a delivery without sending it, and read what it would send.
struct AnalysisRoutes: Sendable {
    let database: APIDatabase

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/deliveries/{id}/analysis",
                operation: "analyzeDelivery",
                summary: "Prepare a delivery without sending it",
                details:
                    "It is analysing, then ready: readAnalysis shows its numbers, and startDelivery sends the prepared messages at once. If it cannot be sent, it is editing again, and the analysis lists the problems. A delivery that is being analysed stays as it is; one that is ready is analysed again.",
                scope: .writeDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [202: "Delivery"],
                problems: [.notFound, .conflict],
                handle: analyze
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/analysis",
                operation: "readAnalysis",
                summary: "What the last analysis of a delivery found",
                details:
                    "The numbers are exact: the messages exist. The sizes are those of a sample. samples show people's values: they are null unless the key also has the scopes \(Self.sampleScopes.map(\.rawValue).joined(separator: " and ")).",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "DeliveryAnalysis"],
                problems: [.notFound],
                handle: read
            ),
            APIRoute(
                method: .get,
                path: "/deliveries/{id}/count",
                operation: "countTarget",
                summary: "How many messages a delivery would make now",
                details:
                    "A supervisor counts, within ten seconds. It estimates a large target from a sample: estimate is true, and error says how far messages may be off, at most 2 % unless it ran out of time. The answer holds for a minute, unless the delivery changes. Until it is there, answeredAt is null: ask again in a second. Seed addresses are not counted, and frequency caps are not asked. What only an analysis can count is in problem.",
                scope: .readDeliveries,
                parameters: [APIRoute.idParameter],
                answers: [200: "TargetCount"],
                problems: [.notFound, .conflict],
                handle: count
            ),
        ]
    }

    /// The scopes that a key needs to read samples. Who may write a content can show any value of a person with it; who
    /// may not read devices must not see these values.
    private static let sampleScopes = [APIScope.writeDeliveries, .readDevices]

    private func analyze(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let row = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            try await store.analyzeDelivery(id)
            return try await store.apiDelivery(id, for: call)
        }
        return APIReply(.accepted, DeliveryJSON.json(row))
    }

    private func read(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let json = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            let row = try await store.analysis(ofDelivery: id)
            let counts = try await store.counts(ofDelivery: id)
            let exclusions = try await store.exclusionCounts(delivery: id)
            let problems = try await store.problems(ofDelivery: id)
            let samples: JSONValue = Self.sampleScopes.allSatisfy { call.has($0) } ? Self.samples(row) : .null
            return Self.json(id, row, counts, exclusions, samples: samples, problems)
        }
        return APIReply(.ok, json)
    }

    private func count(_ call: APICall) async throws -> APIReply {
        let id = try call.delivery()
        let found = try await database.run { store in
            _ = try await store.apiDelivery(id, for: call)
            return try await store.askTargetCount(ofDelivery: id)
        }
        return APIReply(
            .ok,
            .members(
                ("deliveryId", .integer(id)),
                ("answeredAt", .time(found.answeredAt)),
                ("counts", .array(found.counts.map(Self.countJSON))),
                ("problem", .filledText(found.problem))
            )
        )
    }

    private static func countJSON(_ count: TargetCount) -> JSONValue {
        .members(
            ("application", .string(count.application)),
            ("messages", .integer(count.messages)),
            ("excluded", .integer(count.excluded)),
            ("estimate", .boolean(count.estimate)),
            ("error", count.error.map { JSONValue.integer($0) } ?? .null)
        )
    }

    private static func json(
        _ id: Int64,
        _ row: DeliveryAnalysisRow,
        _ counts: [DeliveryCountRow],
        _ exclusions: [OutcomeCount],
        samples: JSONValue,
        _ problems: [DeliveryProblem]
    ) -> JSONValue {
        .members(
            ("deliveryId", .integer(id)),
            ("state", .string(row.state.rawValue)),
            ("requestedAt", .time(row.requestedAt)),
            ("finishedAt", .time(row.finishedAt)),
            ("validUntil", .time(row.validUntil)),
            ("messages", .integer(row.messages)),
            ("excluded", .integer(row.excluded)),
            ("counts", .array(counts.map(Self.countJSON))),
            ("exclusions", .array(exclusions.map(Self.exclusionJSON))),
            ("rendered", .integer(row.rendered)),
            ("smallest", bytesJSON(row.smallest)),
            ("largest", bytesJSON(row.largest)),
            ("refused", .integer(row.refused)),
            ("variants", .array(row.sizesByVariant.map(sizesJSON))),
            ("samples", samples),
            ("problems", .array(problems.map(\.json))),
            ("seconds", row.seconds.map { JSONValue.number(String($0)) } ?? .null),
            ("endsAt", .time(row.endsAt)),
            ("limitedBy", .text(row.limitedBy)),
            ("bound", row.bound.map(boundJSON) ?? .null),
            ("remadeBecause", .filledText(row.remadeBecause))
        )
    }

    private static func sizesJSON(_ sizes: AnalysisFindings.Sizes) -> JSONValue {
        .members(
            ("variant", .text(sizes.variant)),
            ("rendered", .integer(sizes.rendered)),
            ("smallest", sizes.smallest.map { JSONValue.integer($0) } ?? .null),
            ("largest", sizes.largest.map { JSONValue.integer($0) } ?? .null),
            ("refused", .integer(sizes.refused))
        )
    }

    private static func boundJSON(_ bound: SendingBound) -> JSONValue {
        .members(
            ("kind", .string(bound.kind.rawValue)),
            ("name", .filledText(bound.name)),
            ("beginsAt", .text(bound.beginsAt))
        )
    }

    private static func bytesJSON(_ bytes: Int32?) -> JSONValue { bytes.map { JSONValue.integer($0) } ?? .null }

    private static func countJSON(_ count: DeliveryCountRow) -> JSONValue {
        .members(
            ("application", .string(count.application)),
            ("locale", .filledText(count.locale)),
            ("timeZone", .filledText(count.timeZone)),
            ("wave", count.wave == 0 ? .null : .integer(count.wave)),
            ("variant", count.variant == 0 || count.isRest ? .null : .integer(count.variant)),
            ("messages", .integer(count.messages))
        )
    }

    private static func exclusionJSON(_ exclusion: OutcomeCount) -> JSONValue {
        .members(("reason", .string(exclusion.reason)), ("messages", .integer(exclusion.count)))
    }

    /// The samples, each with its payload as the gateway would get it, but without the push token.
    private static func samples(_ row: DeliveryAnalysisRow) -> JSONValue {
        let samples = (try? JSONBody.decode([AnalysisFindings.Sample].self, from: row.samples.utf8)) ?? []
        return .array(
            samples.map { sample in
                .members(
                    ("application", .string(sample.application)),
                    ("variant", .text(sample.variant)),
                    ("deviceId", .integer(sample.subscriptionID)),
                    ("locale", .filledText(sample.locale)),
                    ("bytes", .integer(sample.bytes)),
                    ("limit", .integer(sample.limit)),
                    ("payload", .stored(sample.payload))
                )
            }
        )
    }
}
