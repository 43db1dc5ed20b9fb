import PostgresClient
import PushCore

/// A delivery template in a list.
public struct TemplateSummary: Sendable, Hashable {
    public let id: Int32
    /// Its name in commands and SQL, unique.
    public let name: String
    /// What it is for.
    public let label: String
    /// The platforms that its content has something for.
    public let platforms: [Platform]
    /// Whom its deliveries go to.
    public let target: TemplateTarget
    /// Names of the services of its applications.
    public let services: [String]
    /// Whether it came with the product: then it stays.
    public let isReadyMade: Bool
    /// When it was stored last.
    public let changedAt: DatabaseTime
}

extension Store {
    /// Delivery templates by name, from behind a name on.
    public func templateList(behind name: String = "", most: Int) async throws -> [TemplateSummary] {
        let columns = Self.templateColumns(content: "t.content ? 'ios'", settings: "t.content ? 'android'")
        let result = try await query(
            "SELECT \(columns) FROM pushmta.delivery_template t WHERE t.name > $1 ORDER BY t.name LIMIT $2",
            [.text(name), .int64(Int64(most))]
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

    /// A delivery template by its id, its content and settings laid out for reading.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none.
    public func template(_ id: Int32) async throws -> TemplateRow {
        let columns = Self.templateColumns(content: "jsonb_pretty(t.content)", settings: "jsonb_pretty(t.settings)")
        let result = try await query(
            "SELECT \(columns) FROM pushmta.delivery_template t WHERE t.id = $1",
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no delivery template \(id).", Self.template)
    }

    /// Keeps what a draft says as a delivery template, for somebody who has signed in; it is on record in the same transaction.
    ///
    /// Throws ``StoreError`` of code `conflict` if there is one of that name, or if the draft was changed meanwhile.
    public func keepTemplate(_ delivery: DraftDelivery, as name: String, by actor: ConsoleActor) async throws -> Int32 {
        try await query(
            "SELECT pushmta_engine.console_keep_template($1, \(Self.momentAndIdle), $4, $5, $6, $7, $8, $9, $10::text::jsonb, $11)",
            actor.values + [.text(actor.address)] + delivery.values + [.text(name)]
        ).one { try $0.int32() }
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
}
