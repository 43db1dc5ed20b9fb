import PostgresClient
import PushCore

/// A delivery template in a list.
public struct TemplateSummary: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Its name in commands and SQL, unique.
    public let name: String
    /// What it is for.
    public let label: String
    /// The platforms that its content has something for.
    public let platforms: [String]
    /// Whether it came with the product: then it stays.
    public let isReadyMade: Bool
    /// When it was stored last.
    public let changedAt: DatabaseTime
}

extension Store {
    /// Delivery templates by name, from behind a name on.
    public func templateList(behind name: String = "", most: Int) async throws -> [TemplateSummary] {
        let result = try await query(
            """
            SELECT t.id, t.name, t.label, t.content ? 'ios', t.content ? 'android', t.ready_made, t.changed_at
            FROM pushmta.delivery_template t WHERE t.name > $1 ORDER BY t.name LIMIT $2
            """,
            [.text(name), .int64(Int64(most))]
        )
        return try all(result) { rows, row in
            let (isForIOS, isForAndroid) = (try rows.bool(row, 3), try rows.bool(row, 4))
            return TemplateSummary(
                id: try rows.int32(row, 0),
                name: try rows.text(row, 1),
                label: try rows.text(row, 2),
                platforms: (isForIOS ? ["ios"] : []) + (isForAndroid ? ["android"] : []),
                isReadyMade: try rows.bool(row, 5),
                changedAt: try rows.time(row, 6)
            )
        }
    }

    /// A delivery template by its id, its content and settings laid out for reading.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none.
    public func template(_ id: Int32) async throws -> TemplateRow {
        let result = try await query(
            """
            SELECT t.id, t.name, t.label, jsonb_pretty(t.content), jsonb_pretty(t.settings), t.ready_made, t.changed_at
            FROM pushmta.delivery_template t WHERE t.id = $1
            """,
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no delivery template \(id).", Self.template)
    }

    /// Takes a delivery template away, for somebody who has signed in; it is on record in the same transaction.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it came with the product.
    public func removeTemplate(named name: String, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_remove_template($1, \(Self.momentAndIdle), $4, $5)",
            actor.values + [.text(actor.address), .text(name)]
        )
    }

    /// Takes a delivery template away; deliveries that were made from it stay as they are.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it came with the product.
    public func removeTemplate(named name: String) async throws {
        try await query("SELECT pushmta.remove_template($1)", [.text(name)])
    }
}
