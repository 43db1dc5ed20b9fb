import PostgresClient
import PushCore

/// Whether a service keeps a history of what people did, which filters ask.
package struct BehaviourRow: Sendable, Hashable {
    package let service: String
    package let isKept: Bool
    /// When it began; nil if there is none.
    package let since: DatabaseTime?
    /// How many deliveries are in it.
    package let deliveries: Int64
}

extension Store {
    /// The histories of a service, or of all services, by name.
    package func behaviour(ofService service: String? = nil) async throws -> [BehaviourRow] {
        try await behaviour(
            from: "pushmta.behaviour b WHERE $1::text IS NULL OR b.service = $1 ORDER BY b.service",
            [.textOrNull(service)]
        )
    }

    /// The history of a service, with the rights of the web process.
    package func apiBehaviour(ofService service: String) async throws -> [BehaviourRow] {
        try await behaviour(from: "pushmta_engine.api_behaviour($1) b", [.text(service)])
    }

    private func behaviour(from source: String, _ parameters: [PostgresValue]) async throws -> [BehaviourRow] {
        let result = try await query("SELECT b.service, b.kept, b.since, b.deliveries FROM \(source)", parameters)
        return try all(result) { row in
            BehaviourRow(
                service: try row.text(),
                isKept: try row.bool(),
                since: try row.timeOrNil(),
                deliveries: try row.int64()
            )
        }
    }

    /// Starts the history of a service, or ends and deletes it.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` while an earlier history is still being deleted.
    package func keepBehaviour(ofService service: String, _ isKept: Bool = true) async throws {
        try await change("pushmta.keep_behaviour($1, $2)", [.text(service), .bool(isKept)])
    }
}
