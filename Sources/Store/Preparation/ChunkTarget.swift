import PostgresClient
import PushCore

/// The target of a delivery, compiled for a chunk's statement.
struct ChunkTarget {
    /// Whether a user gets the message on only one subscription.
    var onePerUser = false
    /// Whether a push token can belong to two of the delivery's applications, and must get only one message.
    var hasSharedTokens = false
    /// Whether the messages are one-time codes, which ignore an opt-out.
    var isOneTimeCode = false
    /// The id of the delivery's category, or any of those of its services, an SQL expression, if somebody has opted out
    /// of it; nil otherwise.
    var categorySQL: String?
    /// The members of control groups that the delivery does not go to; nil for none.
    var control: ControlGroups?
    /// Whether seed addresses also get the message.
    var hasSeeds = false
    /// Whether persons may get only so many messages in a time.
    var caps = FrequencyCaps.none
    /// The kinds of exclusions that the delivery has.
    var exclusions: ExclusionSources = []
    /// The filter; nil selects everyone.
    var filter: FilterSQL?
    /// A condition in SQL, in addition to the filter.
    var rawSQL: String?
    /// Whether that condition is evaluated for each subscription separately, because some value makes it fail.
    var triesEach = false
    /// The services of the applications.
    var services: [Int32] = []
    /// A service that keeps no history of what people did; nil if all do.
    var forgetfulService: String?
    /// The view that the filter reads.
    var mapping: TargetMapping?
    /// The view's values for the people of the next chunk.
    var people: MappedPeople?
    /// What the filter was compiled from.
    var source: (filter: TargetFilter, start: DatabaseTime)?

    /// The reason that a subscription gets no message, apart from the delivery's exclusion lists; 0 for none. Only
    /// one-time codes, opt-outs from a category and control groups need more than the column `exclusion`, which is in
    /// the index.
    func exclusionSQL(of subscription: String) -> String {
        exclusionSQL(of: subscription, isOptedOut: optOutSQL(of: subscription))
    }

    /// The same, with a condition that the subscription opted out of the delivery's category; nil for never.
    func exclusionSQL(of subscription: String, isOptedOut condition: String?) -> String {
        let own = "\(subscription).exclusion"
        let more = [
            condition.map { "WHEN \($0) THEN \(LoadDecision.categoryOptedOut.rawValue)" },
            control.map { "WHEN \($0.condition(of: subscription)) THEN \(ControlGroups.exclusion)" },
        ].compactMap(\.self)
        if !more.isEmpty {
            return "CASE WHEN \(own) <> 0 THEN \(own) \(more.joined(separator: " ")) ELSE 0 END::smallint"
        }
        guard isOneTimeCode else { return own }
        let columns = ["exclusion", "enabled", "quarantine_status"].map { "\(subscription).\($0)" }
        return "pushmta_engine.code_exclusion(\(columns.joined(separator: ", ")))"
    }

    /// The condition that a subscription opted out of the delivery's category; nil if nobody did.
    ///
    /// Not EXISTS: for that, a plan may read all opt-outs from the category, which may be millions.
    func optOutSQL(of subscription: String) -> String? {
        categorySQL.map { category in
            """
            (SELECT true FROM pushmta_engine.category_opt_out o
                WHERE o.category_id = \(category) AND o.subscription_id = \(subscription).id LIMIT 1) IS NOT NULL
            """
        }
    }

    /// The category of delivery $1, in the statement of a chunk. Subscriptions have opt-outs only from categories of
    /// their own service, so for several services any of them may match.
    static func categoryOfDelivery(services: Int) -> String {
        guard services > 1 else {
            return "(SELECT x.category_id FROM pushmta_engine.delivery_application x WHERE x.delivery_id = $1 LIMIT 1)"
        }
        return """
            ANY(ARRAY(SELECT DISTINCT x.category_id FROM pushmta_engine.delivery_application x WHERE x.delivery_id = $1))
            """
    }

    /// The same as a constant, for statements that are planned for their values; nil for none.
    private static func category(in ids: [Int32]) -> String? {
        let list = ids.map { "\($0)" }.joined(separator: ",")
        return ids.count > 1 ? "ANY('{\(list)}'::integer[])" : ids.isEmpty ? nil : list
    }

    /// The number of the filter's first parameter in a chunk's statement.
    static let firstFilterParameter = 7

    /// Filter and condition as one condition over `s` and `m`; nil selects everyone.
    var condition: String? {
        let tests = [filter?.condition, rawCondition].compactMap(\.self)
        return tests.isEmpty ? nil : tests.joined(separator: " AND ")
    }

    private var rawCondition: String? {
        rawSQL.map { triesEach ? "\(Self.triedSQL) = 0" : "((\($0)\n)) IS TRUE" }
    }

    /// The condition, evaluated for subscription `s` alone: 0 if it is selected, -1 if it is not, 8 if the condition
    /// cannot be computed.
    private static let triedSQL = "pushmta_engine.try_condition($1, s.id)"

    /// The cases in which a subscription `s` of a slice or pool is not selected.
    var choiceCases: [String] {
        guard triesEach else { return condition.map { ["WHEN NOT (\($0)) THEN -1"] } ?? [] }
        return (filter.map { ["WHEN NOT (\($0.condition)) THEN -1"] } ?? []) + ["WHEN s.choice <> 0 THEN s.choice"]
    }

    /// The number of subscriptions in `scanned` for which the condition failed, and the number of all of them. Only
    /// subscriptions whose token has worked count, because anyone can register others; if none has worked yet, all
    /// count.
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

    /// Whether it goes to all subscribers, without any selection.
    var isEverybody: Bool {
        condition == nil && !isGrouped && exclusions.isEmpty && !isOneTimeCode && caps == .none && control == nil
    }

    /// Whether at most one subscription of a group gets the message.
    var isGrouped: Bool { onePerUser || hasSharedTokens }

    /// The mapping, if the filter uses it.
    var readMapping: TargetMapping? { filter?.mappingColumns.isEmpty == false ? mapping : nil }

    /// The tables that the filter reads, each with a comma after it.
    var filterTablesSQL: String { (filter?.tablesSQL ?? "") + mappedSQL }

    /// Joins them to a subscription `s`.
    var filterJoinsSQL: String { mappedJoinSQL("s") + (filter?.joinsSQL ?? "") }

    /// The view's values for the people of a chunk, from the parameters after those of the filter: a row for each
    /// requested person.
    private var mappedSQL: String {
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

    /// Joins the row of a subscription's person as alias `m`.
    private func mappedJoinSQL(_ subscription: String) -> String {
        guard readMapping != nil else { return "" }
        return
            "LEFT JOIN mapped m ON m.user_key = \(subscription).user_key AND \(subscription).user_key <> ''"
    }

    /// Marks people who were not requested, because their subscription got its user key later.
    var unaskedCases: [String] {
        readMapping == nil ? [] : ["WHEN s.user_key <> '' AND m.user_key IS NULL THEN \(Self.unasked)"]
    }

    /// Counts the rows of a table with this mark.
    func unaskedSQL(of table: String) -> String {
        readMapping == nil ? "" : ", (SELECT count(*) FROM \(table) WHERE exclusion = \(Self.unasked))"
    }

    private static let unasked = -2

    /// The columns that a slice of subscriptions must have.
    var sliceColumns: String { columns(and: []) }

    /// The same, with more columns.
    func columns(and more: Set<String>) -> String {
        if rawSQL != nil { return triesEach ? "s.*, \(Self.triedSQL) AS choice" : "s.*" }
        var columns = exclusions.columns.union(filter?.columns ?? []).union(more)
        if isGrouped {
            columns.formUnion(["application_id", "user_key", "push_token", "registered_at", "disabled_at"])
        }
        if readMapping != nil { columns.insert("user_key") }
        if isOneTimeCode { columns.formUnion(["enabled", "quarantine_status"]) }
        if control != nil { columns.formUnion(ControlGroups.subscriptionColumns) }
        if !isGrouped { columns.formUnion(caps.columns) }
        return (["id", "exclusion"] + columns.subtracting(["id", "exclusion"]).sorted()).map { "s.\($0)" }
            .joined(separator: ", ")
    }
}

extension ChunkTarget {
    /// The columns of a delivery `d` that determine its target.
    static let columnsSQL = """
        d.one_per_user, d.allow_duplicates, d.target_filter, d.target_sql, coalesce(d.filter_now, greatest(d.start_at, now())),
            \(exists("""
                FROM pushmta_engine.delivery_application x
                JOIN pushmta_engine.application a ON a.id = x.application_id
                JOIN pushmta_engine.delivery_application y ON y.delivery_id = x.delivery_id AND y.application_id > x.application_id
                JOIN pushmta_engine.application b ON b.id = y.application_id AND b.platform = a.platform
                    AND b.environment = a.environment
                WHERE x.delivery_id = d.id
                """)),
            \(ExclusionSources.columnSQL), d.one_time_code, NOT d.one_time_code AND (
                \(exists("FROM pushmta_engine.category_opt_out o WHERE o.category_id = d.category_id"))
                OR \(exists("""
                    FROM pushmta_engine.delivery_application x
                    JOIN pushmta_engine.category_opt_out o ON o.category_id = x.category_id
                    WHERE x.delivery_id = d.id AND x.category_id <> d.category_id
                    """))),
            d.seed_names IS DISTINCT FROM '{}', pushmta_engine.cap_kind(d.id), \(ControlGroups.columnsSQL),
            \(servicesSQL), \(forgetfulSQL)
        """

    /// Whether rows exist. For EXISTS, PostgreSQL may choose to hash the rows of all deliveries at each call.
    static func exists(_ rows: String) -> String { "coalesce((SELECT true \(rows) LIMIT 1), false)" }

    /// The services of delivery `d`, and the first of them that keeps no history of behaviour.
    private static let servicesSQL = "ARRAY(SELECT DISTINCT v.id \(ofDelivery) ORDER BY 1)"
    private static let forgetfulSQL = "(SELECT min(v.name) \(ofDelivery) AND v.behaviour_since IS NULL)"

    private static let ofDelivery = """
        FROM pushmta_engine.delivery_application x JOIN pushmta_engine.application a ON a.id = x.application_id
            JOIN pushmta_engine.service v ON v.id = a.service_id WHERE x.delivery_id = d.id
        """

    /// Reads ``columnsSQL``. The filter is returned as text; once it is parsed, ``choose(_:start:mapping:)`` compiles
    /// it.
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
        let hasOptOuts = try row.bool()
        target.hasSeeds = try row.bool()
        target.caps = FrequencyCaps(rawValue: try row.int16()) ?? .none
        target.control = try ControlGroups(&row)
        target.services = try row.int32Array()
        target.categorySQL = hasOptOuts ? categoryOfDelivery(services: target.services.count) : nil
        target.forgetfulService = try row.textOrNil()
        return (target, text.map { Filter(text: $0, start: start) })
    }

    /// A filter's text, and the meaning of its `now`.
    struct Filter: Sendable {
        let text: String
        let start: DatabaseTime
    }

    /// Compiles the filter.
    ///
    /// Throws `invalid` with the reason if it cannot be used, `unavailable` if it cannot be used now because the view
    /// lacks a column.
    mutating func choose(
        _ filter: TargetFilter,
        start: DatabaseTime,
        mapping: () async throws -> TargetMapping
    ) async throws {
        if !filter.mappingColumns.isEmpty {
            let found = try await mapping()
            try found.require(filter.mappingColumns.sorted())
            self.mapping = found
        }
        if filter.asksBehaviour, let forgetfulService { throw Store.keepsNoBehaviour(forgetfulService) }
        source = (filter, start)
        self.filter = try FilterSQL(
            filter,
            firstParameter: Self.firstFilterParameter,
            mapping: self.mapping,
            start: start,
            behaviour: BehaviourScope(services: services, of: judgedSQL)
        )
    }

    /// Whether its filter asks what people did.
    var asksBehaviour: Bool { source?.filter.asksBehaviour ?? false }

    /// The same target, compiled for statements that are planned for its values and that several processes may run.
    func sampled(_ subject: CountSubject) throws -> ChunkTarget {
        var target = self
        if categorySQL != nil { target.categorySQL = Self.category(in: subject.categoryIDs) }
        guard let source else { return target }
        target.filter = try FilterSQL(
            source.filter,
            firstParameter: Self.firstFilterParameter,
            mapping: nil,
            start: source.start,
            behaviour: BehaviourScope(services: services, blocks: subject.behaviourBlocks),
            isPlannedWithValues: true
        )
        return target
    }

    /// The subscriptions that a chunk judges: those of the slice or the pool, and, where a token may have two users, the
    /// others with such a token.
    private var judgedSQL: String {
        guard isGrouped else { return "slice" }
        guard onePerUser, hasSharedTokens else { return "pool" }
        return """
            (SELECT p.id, p.person_id FROM pool p UNION ALL
                SELECT z.id, z.person_id FROM pool p CROSS JOIN apps y CROSS JOIN LATERAL (
                    SELECT o.id, o.person_id FROM pushmta_engine.subscription o
                    WHERE o.application_id = y.application_id AND o.push_token = p.push_token AND o.enabled OFFSET 0) z)
            """
    }
}

extension Store {
    /// Checks that a filter can be used for these applications: its text, its fields, and the columns of their mapping.
    ///
    /// Throws `invalid` with the position and the reason if it cannot.
    package func checkFilter(_ text: String, applications names: [String]) async throws {
        let filter = try Self.usable(try await parseFilter(text))
        var ids: [Int32] = []
        for name in names { ids.append(try await application(named: name).id) }
        let mapping = filter.mappingColumns.isEmpty ? nil : try await targetMapping(applications: ids)
        let services = filter.asksBehaviour ? try await behaviourServices(applications: ids) : []
        let behaviour = BehaviourScope(services: services, of: "slice")
        let now = try await databaseClock()
        _ = try FilterSQL(filter, firstParameter: 1, mapping: mapping, start: now, behaviour: behaviour)
    }

    /// The one mapping of all applications of a delivery.
    func targetMapping(delivery id: Int64) async throws -> TargetMapping {
        let rows = try await query(
            "SELECT application_id FROM pushmta_engine.delivery_application WHERE delivery_id = $1 ORDER BY 1",
            [.int64(id)]
        )
        return try await targetMapping(applications: try all(rows) { row in try row.int32() })
    }

    /// Planning normally takes a few milliseconds.
    private static let maxPlan = Duration.seconds(2)

    /// The SQLSTATEs of a text that is not an expression, is not a boolean, or has parameters.
    private static let ofTexts: Set<String> = ["42601", "42804", "42P02", "42P18"]

    /// The compiled targets of deliveries.
    ///
    /// Throws `invalid`, or the database's own error, with the reason if a filter or a condition cannot be used.
    func chunkTargets(of ids: [Int64]) async throws -> [Int64: ChunkTarget] {
        // It reads lists that other systems fill and may lock.
        let result = try await group([
            Self.shortLockWait,
            PostgresStatement(
                "SELECT d.id, \(ChunkTarget.columnsSQL) FROM pushmta_engine.delivery d WHERE d.id = ANY($1::bigint[])",
                [.int64Array(ids)]
            ),
        ])[1]
        let rows = try all(result) { row in (id: try row.int64(), read: try ChunkTarget.read(&row)) }
        var filters = try await parseFilters(rows.compactMap { $0.read.filter?.text }).makeIterator()
        var targets: [Int64: ChunkTarget] = [:]
        for (id, read) in rows {
            var target = read.target
            if let start = read.filter?.start, let parsed = filters.next() {
                try await target.choose(try Self.usable(parsed), start: start) { try await targetMapping(delivery: id) }
            }
            if let condition = target.rawSQL { try await checkCondition(condition, of: id) }
            targets[id] = target
        }
        return targets
    }

    private func checkCondition(_ condition: String, of id: Int64) async throws {
        // A single expression fits into both kinds of brackets. A text that closes a bracket to escape fits into at
        // most one of them.
        for shape in ["(\(condition)\n)", "ARRAY[\(condition)\n]::boolean[] = '{}'"] {
            let sql = "EXPLAIN SELECT FROM pushmta_engine.subscription s WHERE \(shape)"
            do {
                // Constant expressions are computed during planning and may take any amount of time, too.
                try await group([Self.limit(Self.maxPlan), PostgresStatement(sql, prepare: false)])
            } catch let error as PostgresError where error.sqlState?.hasPrefix("42") == true {
                // An object that it reads may exist again soon, but an error in its own text remains.
                let isItsText = Self.ofTexts.contains(error.sqlState ?? "")
                throw StoreError(
                    isItsText ? .invalid : .unavailable,
                    "The condition in SQL of delivery \(id) cannot be used: \(error.message)"
                )
            }
        }
    }
}

/// The kinds of exclusions that a delivery has, so that a statement looks up only those.
struct ExclusionSources: OptionSet, Sendable, Hashable {
    let rawValue: Int

    /// Named lists, which may get entries of every kind at any time.
    static let lists = ExclusionSources(rawValue: 1)
    /// Users in `pushmta.delivery_exclusion`, which is frozen at the delivery's start.
    static let users = ExclusionSources(rawValue: 2)
    static let subscriptions = ExclusionSources(rawValue: 4)
    static let tokens = ExclusionSources(rawValue: 8)

    /// The columns that identify people, and the matching columns of a subscription.
    private static let keys: [(source: ExclusionSources, column: String, key: String)] = [
        (.users, "user_key", "user_key"), (.subscriptions, "subscription_id", "id"),
        (.tokens, "push_token", "push_token"),
    ]

    /// The kinds that delivery `d` has, as a number.
    static let columnSQL: String = {
        let own = keys.map { source, column, _ in
            """
            + CASE WHEN \(ChunkTarget.exists("FROM pushmta.delivery_exclusion e WHERE e.delivery_id = d.id AND e.\(column) IS NOT NULL"))
                THEN \(source.rawValue) ELSE 0 END
            """
        }
        return """
            CASE WHEN \(ChunkTarget.exists("FROM pushmta_engine.delivery_exclusion_list l WHERE l.delivery_id = d.id"))
                THEN \(lists.rawValue) ELSE 0 END \(own.joined(separator: " "))
            """
    }()

    /// The condition that alias `subject`, a subscription, is excluded from delivery $1; nil if there are no
    /// exclusions.
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
