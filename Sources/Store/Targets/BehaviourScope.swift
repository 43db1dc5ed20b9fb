import PostgresClient
import PushCore

/// What a filter needs to ask what people did.
struct BehaviourScope: Sendable, Hashable {
    /// The services whose history is asked; all of them keep one.
    let services: [Int32]
    let blocks: Blocks

    /// The blocks of 4,096 persons of all subscriptions that the statement judges.
    enum Blocks: Sendable, Hashable {
        /// A query for them.
        case query(String)
        /// These blocks: all of which the history has something. Each part of a statement can then ask for itself, in a
        /// process of its own.
        case these([Int32])
    }

    /// - Parameter persons: a query for subscriptions with their `id` and `person_id`, or the name of such a table.
    init(services: [Int32], of subscriptions: String) {
        self.services = services
        blocks = .query("SELECT DISTINCT (coalesce(x.person_id, x.id) >> 12)::integer FROM \(subscriptions) x")
    }

    /// - Parameter blocks: those of which the history has something.
    init(services: [Int32], blocks: [Int32]) {
        self.services = services
        self.blocks = .these(blocks)
    }
}

extension Store {
    /// The services of applications, whose history of behaviour a filter asks.
    ///
    /// Throws `invalid` if one of them keeps none.
    func behaviourServices(applications ids: [Int32]) async throws -> [Int32] {
        let rows = try await query(
            """
            SELECT DISTINCT v.id, v.name, v.behaviour_since IS NOT NULL FROM pushmta_engine.application a
            JOIN pushmta_engine.service v ON v.id = a.service_id WHERE a.id = ANY($1) ORDER BY 1
            """,
            [.int32Array(ids)]
        )
        return try all(rows) { row in
            let (id, name) = (try row.int32(), try row.text())
            guard try row.bool() else { throw Self.keepsNoBehaviour(name) }
            return id
        }
    }

    /// The error for a filter that asks what people did, for a service that does not keep it.
    static func keepsNoBehaviour(_ service: String) -> StoreError {
        StoreError(
            .invalid,
            "The filter asks what people did, and service \"\(service)\" keeps no history of that.",
            hint: "pushmta behaviour keep \(service) begins one; or leave this test out"
        )
    }
}
