import PostgresClient
import PushCore

/// Counts the messages of a delivery for one application: all of them, or those of a sample.
///
/// The sample is made of windows: ranges of ids with some hundred subscriptions each. They are read in an order that looks
/// random and is always the same.
struct TargetSampler {
    /// What was found in the windows so far.
    struct Sums: Sendable, Hashable {
        var windows: Int64 = 0
        var messages: Int64 = 0
        /// The sum of the squares of the messages of each window.
        var squares = 0.0
        var excluded: Int64 = 0

        /// The estimate for a number of windows from this sample of them.
        func total(_ name: String, of all: Int64) -> TargetCount {
            guard windows < all else { return TargetCount(application: name, messages: messages, excluded: excluded) }
            let factor = Double(all) / Double(max(windows, 1))
            let error = error(of: all)
            // Three digits of the error: rounding it up adds at most a hundredth.
            let unit = max(AudienceCounter.unit(error) / 100, 1)
            return TargetCount(
                application: name,
                messages: AudienceCounter.rounded(Double(messages) * factor, unit),
                excluded: AudienceCounter.rounded(Double(excluded) * factor, unit),
                error: Int64((error / unit).rounded(.up) * unit)
            )
        }

        /// The error of the estimate, at 95 % confidence. It shrinks to nothing as the sample becomes the whole.
        func error(of all: Int64) -> Double {
            let (n, whole) = (Double(max(windows, 2)), Double(all))
            let mean = Double(messages) / n
            let variance = max(squares - n * mean * mean, 0) / (n - 1)
            let rest = max(1 - n / whole, 0)
            // Windows that are all alike, for example because none has a match, say nothing about rare ones.
            let unseen = variance == 0 ? AudienceCounter.maxUnseen / n * whole * rest : 0
            return max(AudienceCounter.deviations * (variance / n * rest).squareRoot() * whole + unseen, 1)
        }

        /// Whether the error is small enough.
        func isPrecise(of all: Int64) -> Bool {
            let total = Double(messages) / Double(max(windows, 1)) * Double(all)
            return windows >= TargetSampler.fewest && error(of: all) <= TargetSampler.precision * total
        }
    }

    let store: Store
    let delivery: Int64
    let application: Int32
    let target: ChunkTarget
    /// Whether a listed target may be named twice; nil if the delivery has no list of targets.
    let list: Bool?

    /// Up to this many subscriptions, which takes some tenths of a second, all are read.
    private static let wholeSize: Int64 = 50_000
    /// Subscriptions in a window, about.
    private static let windowSize: Int64 = 256
    /// Windows in a statement: about 16,000 subscriptions, some tens of milliseconds.
    private static let windowsPerRound: Int64 = 64
    /// The fewest windows whose variance says something.
    fileprivate static let fewest: Int64 = 64
    /// The wanted error, as a share of the number: 2 %, with room for rounding.
    fileprivate static let precision = 0.0198

    /// Counts, or estimates if that takes too long.
    func count(named name: String, until deadline: ContinuousClock.Instant) async throws -> TargetCount {
        guard list == nil else {
            return try await read([0], from: 0, width: 1, until: deadline).total(name, of: 1)
        }
        let size = try await store.query(Self.sizeSQL, [.int32(application), .int64(Self.wholeSize + 1)])
            .one { row in
                (first: try row.int64(), last: try row.int64(), count: try row.int64(), through: try row.int64())
            }
        guard size.count > 0 else { return TargetCount(application: name, messages: 0, excluded: 0) }
        guard size.count > Self.wholeSize else {
            let width = size.last - size.first + 1
            return try await read([size.first], from: size.first, width: width, until: deadline).total(name, of: 1)
        }
        // Ids of other applications lie between those of this one.
        let width = max((size.through - size.first + 1) * Self.windowSize / size.count, Self.windowSize)
        return try await sample(name, from: size.first, width: width, (size.last - size.first) / width + 1, deadline)
    }

    private func sample(
        _ name: String,
        from first: Int64,
        width: Int64,
        _ all: Int64,
        _ deadline: ContinuousClock.Instant
    ) async throws -> TargetCount {
        var sums = Sums()
        while sums.windows < all {
            let places = sums.windows..<min(sums.windows + Self.windowsPerRound, all)
            let lows = places.map { first + Self.window(at: $0, of: all) * width }
            do {
                let found = try await read(lows, from: first, width: width, until: deadline)
                sums.windows += Int64(lows.count)
                sums.messages += found.messages
                sums.squares += found.squares
                sums.excluded += found.excluded
            } catch let error as PostgresError where LoadProblem.isTimeout(error) && sums.windows >= Self.fewest {
                break
            }
            if sums.isPrecise(of: all) || ContinuousClock.now >= deadline { break }
        }
        return sums.total(name, of: all)
    }

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

    private func read(_ lows: [Int64], from first: Int64, width: Int64, until deadline: ContinuousClock.Instant)
        async throws -> Sums
    {
        let rest = max(deadline - ContinuousClock.now, .milliseconds(1))
        // The parameters before the filter's; the last one is unused.
        let own: [PostgresValue] = [
            .int64(delivery), .int64Array(lows), .int64(width), .int32(application), .int64(first), .int64(0),
        ]
        let results = try await store.group([
            Store.limit(rest),
            PostgresStatement(sql, own + (target.filter?.parameters ?? []), prepare: false),
        ])
        return try results[1].one { row in
            Sums(
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
    /// The subscriptions of the windows, or those that a list of targets names.
    private var sliceSQL: String {
        let columns = target.columns(and: ["application_id", "registered_at", "user_key"])
        guard let list else {
            return """
                SELECT w.n AS window_number, s.* FROM unnest($2) WITH ORDINALITY w(low, n)
                CROSS JOIN LATERAL (SELECT \(columns) FROM pushmta_engine.subscription s
                    WHERE s.application_id = $4 AND s.id >= w.low AND s.id < w.low + $3 OFFSET 0) s
                """
        }
        return """
            SELECT 1::bigint AS window_number, \(columns) FROM (SELECT \(list ? "" : "DISTINCT ")s.id FROM (
                SELECT s.id FROM pushmta.delivery_target t JOIN pushmta_engine.subscription s ON s.id = t.subscription_id
                WHERE t.delivery_id = $1
                UNION ALL
                SELECT s.id FROM pushmta.delivery_target t
                JOIN pushmta_engine.subscription s ON s.user_key = t.user_key AND s.user_key <> '' WHERE t.delivery_id = $1
                UNION ALL
                SELECT s.id FROM pushmta.delivery_target t CROSS JOIN app x
                JOIN pushmta_engine.subscription s ON s.application_id = x.application_id AND s.push_token = t.push_token AND s.enabled
                WHERE t.delivery_id = $1) s) n
            JOIN pushmta_engine.subscription s ON s.id = n.id WHERE s.application_id IN (SELECT x.application_id FROM app x)
            """
    }

    /// The others of a person in the slice, among which only one gets the message.
    private var othersSQL: String {
        guard target.onePerUser, list == nil else { return "" }
        let columns = target.columns(and: ["application_id", "registered_at", "user_key"])
        return """
            UNION ALL
            SELECT NULL::bigint, s.* FROM (SELECT DISTINCT l.user_key FROM slice l WHERE l.user_key <> '') u
            CROSS JOIN LATERAL (SELECT \(columns) FROM pushmta_engine.subscription s
                WHERE s.user_key = u.user_key AND s.user_key <> '' OFFSET 0) s
            WHERE s.application_id IN (SELECT x.application_id FROM app x)
                AND NOT (s.application_id = $4 AND $5 + (s.id - $5) / $3 * $3 = ANY($2))
            """
    }

    /// The messages, the squares of those of each window, and those that are selected and get none.
    ///
    /// Parameters: $1 delivery, $2 the first id of each window, $3 how many ids a window has, $4 application, $5 the first
    /// id of all windows, and those of the filter.
    private var sql: String {
        """
        WITH app AS MATERIALIZED (
            SELECT x.application_id FROM pushmta_engine.delivery_application x WHERE x.delivery_id = $1
        ), experiment AS MATERIALIZED (
            SELECT e.seed, pushmta_engine.cell_bounds(e.delivery_id) AS bounds FROM pushmta_engine.experiment e
            WHERE e.delivery_id = $1 AND e.hold_out > 0
        ), slice AS MATERIALIZED (
            \(sliceSQL)
        ), pool AS MATERIALIZED (
            SELECT * FROM slice \(othersSQL)
        ), \(target.filterTablesSQL)judged AS (
            SELECT s.application_id, s.id, s.user_key, s.registered_at, s.window_number,
                CASE \(PreparationChunk.exclusionCases(target).joined(separator: " ")) ELSE 0 END AS exclusion
            FROM pool s \(target.filterJoinsSQL)
        ), chosen AS (
            SELECT s.application_id, s.window_number, s.exclusion, \(place) AS place, (SELECT pushmta_engine.cell_at(
                pushmta_engine.person_share(coalesce(nullif(s.user_key, ''), s.id::text), e.seed), e.bounds) = 0
                FROM experiment e) IS TRUE AS is_held_out
            FROM judged s WHERE s.exclusion >= 0
        ), found AS (
            SELECT count(*) FILTER (WHERE c.exclusion = 0 AND c.place = 1 AND NOT c.is_held_out) AS messages,
                count(*) FILTER (WHERE c.exclusion > 0 OR c.place > 1 OR c.is_held_out) AS excluded
            FROM chosen c WHERE c.application_id = $4 AND c.window_number IS NOT NULL GROUP BY c.window_number
        )
        SELECT coalesce(sum(f.messages), 0)::bigint, coalesce(sum(f.messages::double precision ^ 2), 0),
            coalesce(sum(f.excluded), 0)::bigint
        FROM found f
        """
    }

    /// The place of a subscription among those of its person that would get the message.
    private var place: String {
        guard target.onePerUser else { return "1" }
        return """
            CASE WHEN s.user_key = '' OR s.exclusion <> 0 THEN 1 ELSE row_number() OVER (
                PARTITION BY s.user_key, s.exclusion = 0 ORDER BY s.registered_at DESC, s.id DESC) END
            """
    }
}
