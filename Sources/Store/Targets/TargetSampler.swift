import PostgresClient
import PushCore

/// Counts the messages of a delivery for one application in windows: ranges of ids. They are read in an order that looks
/// random and is always the same.
struct TargetSampler: Sendable {
    let store: Store
    let delivery: Int64
    /// All applications of the delivery.
    let applications: [Int32]
    let application: Int32
    let target: ChunkTarget
    /// The hold-out of its experiment; nil for none.
    let holdOut: HoldOut?

    /// The persons who get nothing, so that an experiment shows what a delivery brings.
    struct HoldOut: Sendable, Hashable {
        /// The key of the hash that places a person between 0 and 1.
        let seed: Int64
        /// The place, as the database writes it, below which a person belongs to it.
        let share: String

        /// The condition that a subscription belongs to one of them.
        func condition(of subscription: String) -> String {
            let person = "coalesce(nullif(\(subscription).user_key, ''), \(subscription).id::text)"
            return "(pushmta_engine.person_share(\(person), '\(seed)'::bigint) < '\(share)'::double precision)"
        }
    }

    /// What is known of an application's subscriptions.
    struct Size: Sendable, Hashable {
        let first: Int64
        let last: Int64
        /// How many there are, up to a limit.
        let count: Int64
        /// The last of these.
        let through: Int64

        /// How many ids hold that many subscriptions: ids of other applications lie between those of this one.
        func width(of subscriptions: Int64) -> Int64 {
            max((through - first + 1) * subscriptions / max(count, 1), subscriptions)
        }

        func windows(of width: Int64) -> Int64 { (last - first) / width + 1 }
    }

    /// Up to this many subscriptions, which takes some tens of milliseconds, all are read.
    static let wholeSize: Int64 = 50_000
    /// Processes of the server that read at once, if it has cores for them.
    private static let workers = 4
    /// A statement with more windows is divided into parts, which the processes take one after the other.
    private static let plain = (serial: 64, parts: 8)
    /// The same if each part reads the history of what people did for itself.
    private static let asking = (serial: 512, parts: 4)

    /// The window that is read at a place in the order, which looks random and is always the same: a permutation of the
    /// numbers below `all` (a Feistel network of four rounds, repeated until its result is one of them).
    static func window(at place: Int64, of all: Int64) -> Int64 {
        let half = max((UInt64.bitWidth - UInt64(max(all - 1, 0)).leadingZeroBitCount + 1) / 2, 1)
        let mask = (UInt64(1) << UInt64(half)) - 1
        var value = UInt64(place)
        repeat {
            var (left, right) = (value >> UInt64(half), value & mask)
            for round in 0..<UInt64(4) { (left, right) = (right, left ^ (mixed(right * 4 + round) & mask)) }
            value = left << UInt64(half) | right
        } while value >= UInt64(max(all, 1))
        return Int64(value)
    }

    /// The finish of SplitMix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    func size() async throws -> Size {
        try await store.query(Self.sizeSQL, [.int32(application), .int64(Self.wholeSize + 1)]).one { row in
            Size(
                first: try row.int64(),
                last: try row.int64(),
                count: try row.int64(),
                through: try row.int64()
            )
        }
    }

    /// Reads the windows at these places of the order.
    func read(_ places: Range<Int64>, of sample: TargetSample, first: Int64, width: Int64, within limit: Duration)
        async throws -> TargetSample.Sums
    {
        // Neighbours in the table are read one after the other.
        let lows = places.map { first + Self.window(at: $0, of: sample.all) * width }.sorted()
        // The parameters before the filter's; the last one is unused.
        let own: [PostgresValue] = [
            .int64(delivery), .int64Array(lows), .int64(width), .int32(application), .int32Array(applications),
            .int64(0),
        ]
        let results = try await store.group([
            Store.limit(max(limit, .milliseconds(1))),
            PostgresStatement(Self.plan, [.text(String(Self.workers))]),
            PostgresStatement(sql(lows.count), own + (target.filter?.parameters ?? []), prepare: false),
        ])
        return try results[2].one { row in
            TargetSample.Sums(
                windows: Int64(lows.count),
                messages: try row.int64(),
                squares: try row.double(),
                excluded: try row.int64()
            )
        }
    }

    /// The first and the last id, how many there are up to a limit, and the last of these.
    ///
    /// Parameters: $1 application, $2 limit.
    private static let sizeSQL = """
        SELECT coalesce(min(f.id), 0), coalesce((SELECT s.id FROM pushmta_engine.subscription s WHERE s.application_id = $1
                ORDER BY s.application_id DESC, s.id DESC LIMIT 1), 0), count(*), coalesce(max(f.id), 0)
        FROM (SELECT s.id FROM pushmta_engine.subscription s WHERE s.application_id = $1
            ORDER BY s.application_id, s.id LIMIT $2) f
        """
}

/// The statement.
extension TargetSampler {
    /// The next statement of the transaction is planned for its values and may use several processes of the server. The
    /// history of what people did fits into memory. The planner takes a window for a large part of the table, so it would
    /// rather read the whole application than a few thousand windows: it may not.
    ///
    /// Parameters: $1 the number of processes.
    private static let plan = """
        SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('max_parallel_workers_per_gather', $1, true),
            set_config('parallel_setup_cost', '0', true), set_config('parallel_tuple_cost', '0', true),
            set_config('enable_bitmapscan', 'off', true), set_config('enable_material', 'off', true),
            set_config('enable_sort', 'off', true), set_config('work_mem', '64MB', true)
        """

    /// The messages, the squares of those of each window, and those that are selected and get none.
    ///
    /// The server runs the parts of a UNION ALL in several processes if none of them reads a WITH query or has a lateral
    /// sub-select, a look-up for a row, or a sub-select of a constant. An outer join is read window by window.
    ///
    /// Parameters: $1 delivery, $2 the first id of each window, $3 how many ids a window has, $4 application, $5 all
    /// applications, and those of the filter.
    func sql(_ windows: Int) -> String {
        let division = target.filter?.ownJoinsSQL.isEmpty == false ? Self.asking : Self.plain
        let parts = windows > division.serial ? division.parts : 1
        let size = max((windows + parts - 1) / parts, 1)
        let branches = stride(from: 0, to: windows, by: size)
            .map { branch("($2::bigint[])[\($0 + 1):\($0 + size)]") }.joined(separator: "\nUNION ALL\n")
        return """
            SELECT coalesce(sum(f.messages), 0)::bigint, coalesce(sum(f.messages::double precision ^ 2), 0),
                coalesce(sum(f.selected - f.messages), 0)::bigint
            FROM (\(looksUp ? judged(branches) : branches)) f
            """
    }

    /// Whether something is looked up for each subscription that is selected.
    private var looksUp: Bool { target.onePerUser || target.categorySQL != nil || !target.exclusions.isEmpty }

    /// The numbers of each of these windows or, if something is looked up for each subscription, the subscriptions.
    private func branch(_ lows: String) -> String {
        let joins = target.filter?.ownJoinsSQL ?? ""
        let subscriptions = "pushmta_engine.subscription s\(joins)"
        let windows = """
            FROM unnest(\(lows)) w(low) LEFT JOIN \(joins.isEmpty ? subscriptions : "(\(subscriptions))")
                ON s.application_id = $4 AND s.id >= w.low AND s.id < w.low + $3 AND \(selected)
            """
        if looksUp {
            return "SELECT w.low, \(target.columns(and: ["application_id", "registered_at", "user_key"])) \(windows)"
        }
        return """
            SELECT count(s.id) FILTER (WHERE NOT (\(isLeftOut)\(heldOut("s")))) AS messages, count(s.id) AS selected
            \(windows) GROUP BY w.low
            """
    }

    /// The numbers of windows with these subscriptions.
    private func judged(_ subscriptions: String) -> String {
        let repeated = target.onePerUser ? " OR \(isRepeated)" : ""
        return """
            SELECT count(p.id) FILTER (WHERE NOT (p.is_left_out\(repeated)\(heldOut("p")))) AS messages, count(p.id) AS selected
            FROM (SELECT s.low, s.id, s.user_key, s.registered_at, \(isLeftOut) AS is_left_out
                FROM (\(subscriptions) OFFSET 0) s OFFSET 0) p GROUP BY p.low
            """
    }

    /// Whether a subscription `s` is selected. One that was created for a seed address belongs to no user.
    private var selected: String {
        "s.exclusion <> \(Store.seedExclusion)" + (target.condition.map { " AND (\($0))" } ?? "")
    }

    /// Whether it gets no message on its own account.
    private var isLeftOut: String {
        "("
            + ["\(target.exclusionSQL(of: "s")) <> 0", target.exclusions.condition(subject: "s")].compactMap(\.self)
            .joined(separator: " OR ") + ")"
    }

    /// Whether another subscription of the person of `p`, one that registered later, gets the message. The limit keeps the
    /// planner from reading all subscriptions at once.
    private var isRepeated: String {
        """
        p.user_key <> '' AND (SELECT true FROM pushmta_engine.subscription s\(target.filter?.singleJoinsSQL ?? "")
            WHERE s.user_key = p.user_key AND s.user_key <> '' AND s.application_id = ANY($5)
                AND (s.registered_at, s.id) > (p.registered_at, p.id) AND \(selected) AND NOT \(isLeftOut) LIMIT 1) IS NOT NULL
        """
    }

    private func heldOut(_ subscription: String) -> String {
        holdOut.map { " OR \($0.condition(of: subscription))" } ?? ""
    }
}
