import PostgresClient
import PushCore

extension Addressees {
    public init(_ targets: [ExplicitTarget]) {
        self.init(
            userKeys: targets.compactMap(\.userKey),
            subscriptionIDs: targets.compactMap(\.subscriptionID),
            pushTokens: targets.compactMap(\.pushToken)
        )
    }
}

extension Store {
    /// Seed addresses behind a name, or the one of a name; with applications given only those of them.
    public func apiSeeds(named name: String? = nil, behind: String = "", applications: [Int32]?, limit: Int32)
        async throws -> [ListedSeed]
    {
        let result = try await query(
            """
            SELECT s.name, s.label, s.application, s.platform, s.subscription, s.locale, s.variables::text, s.is_seed_only, s.problem
            FROM pushmta_engine.api_seeds($1, $2, $3::integer[], $4) s
            """,
            [.textOrNull(name), .text(behind), applications.map(PostgresValue.int32Array) ?? .null, .int32(limit)]
        )
        return try all(result, Self.listedSeed)
    }

    /// Exclusion lists behind a name, or the one of a name.
    public func apiExclusionLists(named name: String? = nil, behind: String = "", limit: Int32) async throws
        -> [CountedList]
    {
        let result = try await query(
            """
            SELECT l.id, l.name, l.label, l.user_keys, l.subscriptions, l.push_tokens, l.is_used, l.changed_at
            FROM pushmta_engine.api_exclusion_lists($1, $2, $3, $4) l
            """,
            [.textOrNull(name), .text(behind), .int32(limit), .int32(Int32(clamping: Self.mostCountedOfList))]
        )
        return try all(result, Self.countedList)
    }

    /// Whether each of some addressees is on an exclusion list, in their order.
    public func areExcluded(_ addressees: [ExplicitTarget], list: String) async throws -> [Bool] {
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

    /// Takes an exclusion list away.
    ///
    /// Throws ``StoreError`` of code `conflict` if a delivery has it, or more people are on it than can be deleted while somebody waits.
    public func removeExclusionList(named name: String) async throws {
        try await change("pushmta_engine.api_remove_list($1, $2)", [.text(name), .int32(Self.mostDeletedOfList)])
    }

    /// Delivery templates behind a name, or the one of a name; with applications given only those that are for no other one.
    ///
    /// - Parameter patch: JSON to merge into their contents (RFC 7396); nil leaves the contents out.
    public func apiTemplates(
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
