import PostgresClient
import PushCore

extension Store {
    /// Seed addresses after a name, or the one with a name; with applications given, only theirs.
    package func apiSeeds(named name: String? = nil, behind: String = "", applications: [Int32]?, limit: Int32)
        async throws -> [SeedRow]
    {
        let result = try await query(
            """
            SELECT s.name, s.label, s.application, s.platform, s.subscription, s.locale, s.variables::text, s.is_seed_only, s.problem
            FROM pushmta_engine.api_seeds($1, $2, $3::integer[], $4) s
            """,
            [.textOrNull(name), .text(behind), applications.map(PostgresValue.int32Array) ?? .null, .int32(limit)]
        )
        return try all(result, Self.seedRow)
    }

    /// Exclusion lists after a name, or the one with a name.
    package func apiExclusionLists(named name: String? = nil, behind: String = "", limit: Int32) async throws
        -> [CountedList]
    {
        let result = try await query(
            """
            SELECT l.id, l.name, l.label, l.user_keys, l.subscriptions, l.push_tokens, l.is_used, l.changed_at
            FROM pushmta_engine.api_exclusion_lists($1, $2, $3, $4) l
            """,
            [.textOrNull(name), .text(behind), .int32(limit), .int32(Int32(clamping: Self.maxCountedOfList))]
        )
        return try all(result, Self.countedList)
    }

    /// Whether each of some addressees is on an exclusion list, in their order.
    package func areExcluded(_ addressees: [Addressee], list: String) async throws -> [Bool] {
        let result = try await query(
            """
            SELECT f.is_on FROM pushmta_engine.api_find_exclusions($1, $2::text[], $3::bigint[], $4::text[]) f ORDER BY f.place
            """,
            [
                .text(list), .textArray(addressees.map(\.userKey)),
                .int64ArrayWithNulls(addressees.map(\.subscriptionID)), .textArray(addressees.map(\.pushToken)),
            ]
        )
        return try all(result) { row in try row.bool() }
    }

    /// Removes an exclusion list.
    ///
    /// Throws ``StoreError`` of code `conflict` if a delivery uses it, or if it has more entries than can be deleted
    /// while the caller waits.
    package func removeExclusionList(named name: String) async throws {
        try await change("pushmta_engine.api_remove_list($1, $2)", [.text(name), .int32(Self.maxDeletedOfList)])
    }

    /// Delivery templates after a name, or the one with a name; with applications given, only templates for no others.
    ///
    /// - Parameter patch: JSON to merge into their contents (RFC 7396); nil leaves the contents out.
    package func apiTemplates(
        named name: String? = nil,
        behind: String = "",
        applications: [Int32]?,
        limit: Int32,
        merging patch: String?
    ) async throws -> [TemplateRow] {
        let result = try await query(
            """
            SELECT \(Self.templateColumns(content: "t.content::text", settings: "t.settings::text"))
            FROM pushmta_engine.api_templates($1, $2, $3::integer[], $4, $5::text::jsonb) t
            """,
            [
                .textOrNull(name), .text(behind), applications.map(PostgresValue.int32Array) ?? .null, .int32(limit),
                .textOrNull(patch),
            ]
        )
        return try all(result, Self.template)
    }
}
