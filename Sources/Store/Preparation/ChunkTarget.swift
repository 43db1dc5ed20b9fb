import PostgresClient
import PushCore

/// Whom a delivery goes to, as its row says it, compiled for a chunk's statement.
struct ChunkTarget {
    /// Whether a user gets it on one subscription only.
    var onePerUser = false
    /// Whether a push token can belong to two of the delivery's applications and shall get one message only.
    var hasSharedTokens = false
    /// By what its exclusion lists name people.
    var exclusions: ExclusionSources = []
    /// Who is chosen; nil: everybody.
    var filter: FilterSQL?
    /// A condition in SQL beside it.
    var rawSQL: String?
    /// The view that the filter reads.
    var mapping: TargetMapping?

    /// Parameters of a chunk's statement before those of the filter.
    static let firstFilterParameter = 7

    /// Who is chosen, as a condition over `s` and `m`; nil: everybody.
    var condition: String? {
        let tests = [filter?.condition, rawSQL.map { "((\($0)\n)) IS TRUE" }].compactMap(\.self)
        return tests.isEmpty ? nil : tests.joined(separator: " AND ")
    }

    /// Whether it goes to all subscribers, whoever they are.
    var isEverybody: Bool { condition == nil && !isGrouped && exclusions.isEmpty }

    /// Whether of several subscriptions one at most gets the message.
    var isGrouped: Bool { onePerUser || hasSharedTokens }

    /// The columns of the mapping under the names that the filter has for them.
    private var mappingList: String {
        (filter?.mappingColumns ?? []).enumerated().map { place, column in
            "\(column.filterSQL) AS \(FilterSQL.alias(place))"
        }.joined(separator: ", ")
    }

    /// The mapping if the filter reads it.
    var readMapping: TargetMapping? { filter?.mappingColumns.isEmpty == false ? mapping : nil }

    /// The rows of the mapping for all user keys of a table of subscriptions: one look at the view for a chunk. Of several rows of a key
    /// any one counts, and nobody is there twice.
    func mappedSQL(of table: String) -> String? {
        readMapping.map { mapping in
            """
            mapped AS MATERIALIZED (
                SELECT DISTINCT ON (k.user_key) k.user_key, \(mappingList)
                FROM (SELECT DISTINCT user_key FROM \(table) WHERE user_key <> '') k
                JOIN \(mapping.view) m ON \(mapping.keyCondition(userKey: "k.user_key"))
                ORDER BY k.user_key
            )
            """
        }
    }

    /// The mapping's row of one subscription `s`.
    var mappingJoinSQL: String {
        guard let mapping = readMapping else { return "" }
        return """
            LEFT JOIN LATERAL (SELECT \(mappingList) FROM \(mapping.view) m
                WHERE s.user_key <> '' AND \(mapping.keyCondition(userKey: "s.user_key")) LIMIT 1) m ON true
            """
    }

    /// The columns that a slice of the subscriptions must have.
    var sliceColumns: String {
        if rawSQL != nil { return "s.*" }
        var columns = exclusions.columns.union(filter?.columns ?? [])
        if isGrouped {
            columns.formUnion(["application_id", "user_key", "push_token", "registered_at", "disabled_at"])
        }
        if readMapping != nil { columns.insert("user_key") }
        return (["id", "exclusion"] + columns.subtracting(["id", "exclusion"]).sorted()).map { "s.\($0)" }
            .joined(separator: ", ")
    }
}
