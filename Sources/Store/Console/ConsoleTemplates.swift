import PostgresClient
import PushCore

/// A delivery template in a list.
package struct TemplateSummary: Sendable, Hashable {
    package let id: Int32
    /// Its name in commands and SQL, unique.
    package let name: String
    /// What it is for.
    package let label: String
    /// The platforms for which its content has texts or settings.
    package let platforms: [Platform]
    /// The target of its deliveries.
    package let target: TemplateTarget
    /// Names of the services of its applications.
    package let services: [String]
    /// Whether it came with the product and cannot be removed.
    package let isReadyMade: Bool
    /// When it was last saved.
    package let changedAt: DatabaseTime
}

extension Store {
    /// Delivery templates by name, after the given name.
    package func templateList(behind name: String = "", limit: Int) async throws -> [TemplateSummary] {
        let columns = Self.templateColumns(content: "t.content ? 'ios'", settings: "t.content ? 'android'")
        let result = try await query(
            "SELECT \(columns) FROM pushmta.delivery_template t WHERE t.name > $1 ORDER BY t.name LIMIT $2",
            [.text(name), .int64(Int64(limit))]
        )
        return try all(result) { row in
            TemplateSummary(
                id: try row.int32(),
                name: try row.text(),
                label: try row.text(),
                platforms: try [Platform.ios, .android].filter { _ in try row.bool() },
                target: try Self.templateTarget(&row),
                services: try row.textArray(),
                isReadyMade: try row.bool(),
                changedAt: try row.time()
            )
        }
    }

    /// A delivery template by its id, with content and settings formatted for reading.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none.
    package func template(_ id: Int32) async throws -> TemplateRow {
        let columns = Self.templateColumns(content: "jsonb_pretty(t.content)", settings: "jsonb_pretty(t.settings)")
        let result = try await query(
            "SELECT \(columns) FROM pushmta.delivery_template t WHERE t.id = $1",
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no delivery template \(id).", Self.template)
    }

    /// Saves a draft as a delivery template, for a signed-in user, and logs it in the same transaction.
    ///
    /// Throws ``StoreError`` of code `conflict` if the name is taken, or if the draft was changed meanwhile.
    package func keepTemplate(_ delivery: DraftDelivery, as name: String, by actor: ConsoleActor) async throws -> Int32
    {
        try await query(
            "SELECT pushmta_engine.console_keep_template(\(ConsoleActor.caller), $5, $6, $7, $8, $9, $10::text::jsonb, $11)",
            actor.values + delivery.values + [.text(name)]
        ).one { try $0.int32() }
    }

    /// Deletes a delivery template, for a signed-in user, and logs it in the same transaction.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it came with the product.
    package func removeTemplate(named name: String, by actor: ConsoleActor) async throws {
        try await query(
            "SELECT pushmta_engine.console_remove_template(\(ConsoleActor.caller), $5)",
            actor.values + [.text(name)]
        )
    }
}
