import PostgresClient
import PushCore

/// Whom a delivery goes to, as its row says it, compiled for a chunk's statement.
struct ChunkTarget {
    /// Whether a user gets it on one subscription only.
    var onePerUser = false
    /// Whether a push token can belong to two of the delivery's applications and shall get one message only.
    var hasSharedTokens = false
    /// Whether it brings one-time codes, which pass over an opt-out.
    var isOneTimeCode = false
    /// Whether seed addresses get it, too.
    var hasSeeds = false
    /// By what its exclusion lists name people.
    var exclusions: ExclusionSources = []
    /// Who is chosen; nil: everybody.
    var filter: FilterSQL?
    /// A condition in SQL beside it.
    var rawSQL: String?
    /// Whether that condition is tried for each subscription by itself: some value makes it fail.
    var triesEach = false
    /// The view that the filter reads.
    var mapping: TargetMapping?
    /// What it says of the people of the next chunk.
    var people: MappedPeople?

    /// Why a subscription gets nothing, as far as that does not depend on the delivery's lists: 0 if it gets something. Other deliveries
    /// read the index alone.
    func exclusionSQL(of subscription: String) -> String {
        guard isOneTimeCode else { return "\(subscription).exclusion" }
        let columns = ["exclusion", "enabled", "quarantine_status"].map { "\(subscription).\($0)" }
        return "pushmta_engine.code_exclusion(\(columns.joined(separator: ", ")))"
    }

    /// Parameters of a chunk's statement before those of the filter.
    static let firstFilterParameter = 7

    /// Who is chosen, as a condition over `s` and `m`; nil: everybody.
    var condition: String? {
        let tests = [filter?.condition, rawCondition].compactMap(\.self)
        return tests.isEmpty ? nil : tests.joined(separator: " AND ")
    }

    private var rawCondition: String? {
        rawSQL.map { triesEach ? "\(Self.triedSQL) = 0" : "((\($0)\n)) IS TRUE" }
    }

    /// What the condition says of a subscription `s` by itself: 0, or why it gets no message.
    private static let triedSQL = "pushmta_engine.try_condition($1, s.id)"

    /// Why a subscription `s` of a slice or a pool is not chosen.
    var choiceCases: [String] {
        guard triesEach else { return condition.map { ["WHEN NOT (\($0)) THEN -1"] } ?? [] }
        return (filter.map { ["WHEN NOT (\($0.condition)) THEN -1"] } ?? []) + ["WHEN s.choice <> 0 THEN s.choice"]
    }

    /// For how many of the subscriptions `scanned` the condition failed, and how many there are, of those that count: a token that never
    /// worked may be a stranger's, unless none has worked yet.
    var failuresSQL: String {
        guard triesEach else { return "" }
        let proven = """
            SELECT FROM pushmta_engine.subscription_acceptance a WHERE a.application_id IN (
                SELECT x.application_id FROM pushmta_engine.delivery_application x WHERE x.delivery_id = $1)
            """
        let counts = """
            (NOT EXISTS (\(proven)) OR EXISTS (\(proven) AND a.block = j.id >> 10
                AND get_bit(a.accepted, (j.id & 1023)::integer) = 1))
            """
        return """
            , (SELECT count(*) FROM scanned j WHERE j.exclusion = 8 AND \(counts)), (SELECT count(*) FROM scanned j WHERE \(counts))
            """
    }

    /// Whether it goes to all subscribers, whoever they are.
    var isEverybody: Bool { condition == nil && !isGrouped && exclusions.isEmpty && !isOneTimeCode }

    /// Whether of several subscriptions one at most gets the message.
    var isGrouped: Bool { onePerUser || hasSharedTokens }

    /// The mapping if the filter reads it.
    var readMapping: TargetMapping? { filter?.mappingColumns.isEmpty == false ? mapping : nil }

    /// What the view says of the people of a chunk, as the parameters behind those of the filter bring it: a row for everyone who was asked
    /// for.
    var mappedSQL: String {
        guard let filter, readMapping != nil else { return "" }
        let first = Self.firstFilterParameter + filter.parameters.count
        let names = filter.mappingColumns.indices.map(FilterSQL.alias)
        let columns = zip(names, filter.mappingColumns).map {
            ", u.\($0)::\(MappingColumn.type($1.kind)) AS \($0)"
        }
        let arrays = (0...names.count).map { "$\(first + $0)::text[]" }.joined(separator: ", ")
        return """
            mapped AS MATERIALIZED (
                SELECT u.user_key\(columns.joined()) FROM unnest(\(arrays)) u(\((["user_key"] + names).joined(separator: ", ")))
            ),
            """
    }

    /// The row of a subscription's person as alias `m`.
    func mappedJoinSQL(_ subscription: String) -> String {
        guard readMapping != nil else { return "" }
        return
            "LEFT JOIN mapped m ON m.user_key = \(subscription).user_key AND \(subscription).user_key <> ''"
    }

    /// Marks people who were not asked for: those who got a user key since then.
    var unaskedCases: [String] {
        readMapping == nil ? [] : ["WHEN s.user_key <> '' AND m.user_key IS NULL THEN \(Self.unasked)"]
    }

    /// How many of a table were marked so.
    func unaskedSQL(of table: String) -> String {
        readMapping == nil ? "" : ", (SELECT count(*) FROM \(table) WHERE exclusion = \(Self.unasked))"
    }

    private static let unasked = -2

    /// The columns that a slice of the subscriptions must have.
    var sliceColumns: String {
        if rawSQL != nil { return triesEach ? "s.*, \(Self.triedSQL) AS choice" : "s.*" }
        var columns = exclusions.columns.union(filter?.columns ?? [])
        if isGrouped {
            columns.formUnion(["application_id", "user_key", "push_token", "registered_at", "disabled_at"])
        }
        if readMapping != nil { columns.insert("user_key") }
        if isOneTimeCode { columns.formUnion(["enabled", "quarantine_status"]) }
        return (["id", "exclusion"] + columns.subtracting(["id", "exclusion"]).sorted()).map { "s.\($0)" }
            .joined(separator: ", ")
    }
}

extension ChunkTarget {
    /// What else is read of a delivery `d` whose chunk is made.
    static let columnsSQL = """
        d.one_per_user, d.allow_duplicates, d.target_filter, d.target_sql, coalesce(d.started_at, now()),
            EXISTS (SELECT FROM pushmta_engine.delivery_application x
                JOIN pushmta_engine.application a ON a.id = x.application_id
                JOIN pushmta_engine.delivery_application y ON y.delivery_id = x.delivery_id AND y.application_id > x.application_id
                JOIN pushmta_engine.application b ON b.id = y.application_id AND b.platform = a.platform
                    AND b.environment = a.environment
                WHERE x.delivery_id = d.id),
            \(ExclusionSources.columnSQL), d.one_time_code, d.seed_names IS DISTINCT FROM '{}'
        """

    /// Reads what ``columnsSQL`` brought but the filter, which ``choose(_:mapping:)`` takes.
    static func read(_ row: inout RowReader) throws -> (target: ChunkTarget, filter: Filter?) {
        var target = ChunkTarget()
        target.onePerUser = try row.bool()
        let allowsDuplicates = try row.bool()
        let text = try row.textOrNil()
        target.rawSQL = try row.textOrNil()
        let start = try row.time()
        target.hasSharedTokens = try row.bool() && !allowsDuplicates
        target.exclusions = ExclusionSources(rawValue: Int(try row.int32()))
        target.isOneTimeCode = try row.bool()
        target.hasSeeds = try row.bool()
        return (target, text.map { Filter(text: $0, start: start) })
    }

    /// A filter, and the moment from which it counts time.
    struct Filter: Sendable {
        let text: String
        let start: DatabaseTime
    }

    /// Compiles the filter.
    ///
    /// Throws `invalid` with the reason if it cannot be used, `unavailable` if it cannot be used now, as the view lacks a column.
    mutating func choose(_ filter: Filter, mapping: () async throws -> TargetMapping) async throws {
        let parsed = try Self.parse(filter.text)
        if !parsed.mappingColumns.isEmpty {
            let found = try await mapping()
            try found.require(parsed.mappingColumns.sorted())
            self.mapping = found
        }
        self.filter = try FilterSQL(
            parsed,
            firstParameter: Self.firstFilterParameter,
            mapping: self.mapping,
            start: filter.start
        )
    }

    private static func parse(_ text: String) throws -> TargetFilter {
        do {
            return try TargetFilter(parsing: text)
        } catch {
            throw StoreError(.invalid, "\(error)")
        }
    }
}

extension Store {
    /// Whether a filter can be used for these applications: its text, its fields, and the columns of their mapping.
    ///
    /// Throws `invalid` with the place and the reason if it cannot.
    public func checkFilter(_ text: String, applications names: [String]) async throws {
        let filter: TargetFilter
        do {
            filter = try TargetFilter(parsing: text)
        } catch {
            throw StoreError(.invalid, "\(error)")
        }
        var ids: [Int32] = []
        for name in names { ids.append(try await application(named: name).id) }
        let mapping = filter.mappingColumns.isEmpty ? nil : try await targetMapping(applications: ids)
        let now = try await databaseClock()
        _ = try FilterSQL(filter, firstParameter: 1, mapping: mapping, start: now)
    }

    /// The one mapping of all applications of a delivery.
    func targetMapping(delivery id: Int64) async throws -> TargetMapping {
        let rows = try await query(
            "SELECT application_id FROM pushmta_engine.delivery_application WHERE delivery_id = $1 ORDER BY 1",
            [.int64(id)]
        )
        return try await targetMapping(applications: try all(rows) { row in try row.int32() })
    }

    /// A plan takes some milliseconds.
    private static let longestPlan = Duration.seconds(2)

    /// A text that is no expression, one that is not a boolean, and one with parameters.
    private static let ofTexts: Set<String> = ["42601", "42804", "42P02", "42P18"]

    /// Whom deliveries go to, compiled.
    ///
    /// Throws `invalid`, or the database's own error, with the reason if a filter or a condition cannot be used.
    func chunkTargets(of ids: [Int64]) async throws -> [Int64: ChunkTarget] {
        // It looks into lists that others fill, and may lock.
        let result = try await group([
            Self.shortLockWait,
            PostgresStatement(
                "SELECT d.id, \(ChunkTarget.columnsSQL) FROM pushmta_engine.delivery d WHERE d.id = ANY($1::bigint[])",
                [.int64Array(ids)]
            ),
        ])[1]
        let rows = try all(result) { row in (id: try row.int64(), read: try ChunkTarget.read(&row)) }
        var targets: [Int64: ChunkTarget] = [:]
        for (id, read) in rows {
            var target = read.target
            if let filter = read.filter {
                try await target.choose(filter) { try await targetMapping(delivery: id) }
            }
            if let condition = target.rawSQL { try await checkCondition(condition, of: id) }
            targets[id] = target
        }
        return targets
    }

    private func checkCondition(_ condition: String, of id: Int64) async throws {
        // One expression fits into both kinds of brackets. What closes a bracket to get out of its place fits into one at most.
        for shape in ["(\(condition)\n)", "ARRAY[\(condition)\n]::boolean[] = '{}'"] {
            let sql = "EXPLAIN SELECT FROM pushmta_engine.subscription s WHERE \(shape)"
            do {
                // What a plan computes beforehand may take any time, too.
                try await group([Self.limit(Self.longestPlan), PostgresStatement(sql, prepare: false)])
            } catch let error as PostgresError where error.sqlState?.hasPrefix("42") == true {
                // What it reads may be there again in a moment; its own text stays as it is.
                let isItsText = Self.ofTexts.contains(error.sqlState ?? "")
                throw StoreError(
                    isItsText ? .invalid : .unavailable,
                    "The condition in SQL of delivery \(id) cannot be used: \(error.message)"
                )
            }
        }
    }
}

/// By what the exclusions of a delivery name people: a statement looks up only what there can be.
struct ExclusionSources: OptionSet, Sendable, Hashable {
    let rawValue: Int

    /// Lists with names, which may get entries of every kind at any time.
    static let lists = ExclusionSources(rawValue: 1)
    /// In `pushmta.delivery_exclusion`, which is frozen with the delivery's start.
    static let users = ExclusionSources(rawValue: 2)
    static let subscriptions = ExclusionSources(rawValue: 4)
    static let tokens = ExclusionSources(rawValue: 8)

    /// The columns by which people are named, and those of a subscription that they stand for.
    private static let keys: [(source: ExclusionSources, column: String, key: String)] = [
        (.users, "user_key", "user_key"), (.subscriptions, "subscription_id", "id"),
        (.tokens, "push_token", "push_token"),
    ]

    /// The sources that delivery `d` has, as one number.
    static let columnSQL: String = {
        let own = keys.map { source, column, _ in
            """
            + CASE WHEN EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = d.id AND e.\(column) IS NOT NULL)
                THEN \(source.rawValue) ELSE 0 END
            """
        }
        return """
            CASE WHEN EXISTS (SELECT FROM pushmta_engine.delivery_exclusion_list l WHERE l.delivery_id = d.id)
                THEN \(lists.rawValue) ELSE 0 END \(own.joined(separator: " "))
            """
    }()

    /// Whether alias `subject`, a subscription, is excluded from delivery $1; nil if nobody can be.
    func condition(subject: String) -> String? {
        var tests: [String] = []
        for (_, column, key) in Self.keys where contains(.lists) {
            tests.append(
                """
                EXISTS (SELECT FROM pushmta_engine.delivery_exclusion_list l JOIN pushmta_engine.exclusion_entry e
                    ON e.list_id = l.list_id AND e.\(column) = \(subject).\(key) WHERE l.delivery_id = $1)
                """
            )
        }
        for (source, column, key) in Self.keys where contains(source) {
            tests.append(
                """
                EXISTS (SELECT FROM pushmta.delivery_exclusion e WHERE e.delivery_id = $1 AND e.\(column) = \(subject).\(key))
                """
            )
        }
        return tests.isEmpty ? nil : "(" + tests.joined(separator: " OR ") + ")"
    }

    /// The columns of a subscription that the condition reads.
    var columns: Set<String> {
        Set(Self.keys.filter { contains($0.source) || contains(.lists) }.map(\.key))
    }
}
