import PostgresClient
import PushCore

/// Counts and estimates the subscriptions that one condition selects.
struct AudienceCounter {
    struct Sum: Sendable, Hashable {
        var chosen: Int64 = 0
        var excluded: Int64 = 0

        mutating func add(_ other: Sum) {
            chosen += other.chosen
            excluded += other.excluded
        }
    }

    let store: Store
    /// Why a subscription `s` gets no message, 0 if it gets one.
    var exclusion = "s.exclusion"
    let condition: FilterSQL?
    /// The same for a sample, if it differs: a filter that asks what people did names the table that it judges.
    var sampled: FilterSQL?

    /// Subscriptions in one step: about 20 milliseconds if each has to be read.
    private static let step: Int64 = 5_000
    /// Ids in a window of a sample, and windows of an application in one statement: as much as a step.
    private static let (width, windows): (Int64, Int) = (250, 20)
    /// 95 % of a normal distribution lie within this many standard deviations.
    static let deviations = 1.96
    /// If all windows agree, for example because none has a match, at most this many differ among as many others, at
    /// the same confidence (the rule of three).
    static let maxUnseen = 3.0

    /// Counts the subscriptions of an application from the first on, until all are counted or the time is over.
    func count(_ application: Int32, until deadline: ContinuousClock.Instant) async throws -> (Sum, isWhole: Bool) {
        var sum = Sum()
        var through: Int64 = 0
        while true {
            let result = try await store.query(
                Self.stepSQL(condition, exclusion: exclusion),
                [.int32(application), .int64(through), .int64(Self.step)] + (condition?.parameters ?? [])
            )
            let (step, looked, last) = try result.one { row in
                (Sum(chosen: try row.int64(), excluded: try row.int64()), try row.int64(), try row.int64())
            }
            sum.add(step)
            through = last
            if looked < Self.step { return (sum, true) }
            if ContinuousClock.now >= deadline { return (sum, false) }
        }
    }

    /// Estimates how many subscriptions of these applications are selected, from windows of ids spread evenly between
    /// the first and the last one.
    ///
    /// - Parameters:
    ///   - known: the counts of other applications.
    ///   - counted: what was already counted of the first application, as a minimum.
    func estimate(
        _ applications: [Int32],
        beside known: Sum,
        counted: Sum,
        until deadline: ContinuousClock.Instant
    ) async throws -> AudienceCount {
        var least = known
        least.add(counted)
        let ranges = try await ranges(applications)
        var windows: [Int32: [Sum]] = [:]
        var rounds = 0
        repeat {
            for (application, sum) in try await sample(ranges, rounds) { windows[application, default: []].append(sum) }
            rounds += 1
        } while ContinuousClock.now < deadline
        var (chosen, excluded) = (Double(known.chosen), Double(known.excluded))
        var (variance, unseen) = (0.0, 0.0)
        for (application, range) in ranges {
            let looked = Double(rounds * Self.windows)
            // The number of windows of the application.
            let all = Double(range.count) / Double(Self.width)
            let found = windows[application] ?? []
            let sum = found.reduce(0.0) { $0 + Double($1.chosen) }
            let squares = found.reduce(0.0) { $0 + Double($1.chosen) * Double($1.chosen) }
            chosen += sum / looked * all
            excluded += found.reduce(0.0) { $0 + Double($1.excluded) } / looked * all
            // Windows without a match count as 0.
            let spread = max(squares - sum * sum / looked, 0)
            variance += spread / (looked - 1) / looked * all * all
            if spread == 0 { unseen += Self.maxUnseen / looked * all }
        }
        let error = max(Self.deviations * variance.squareRoot() + unseen, 1)
        let unit = Self.unit(error)
        return AudienceCount(
            count: max(Self.rounded(chosen, unit), least.chosen),
            excluded: max(Self.rounded(excluded, unit), least.excluded),
            error: Int64((error / unit).rounded(.up) * unit)
        )
    }

    /// The first and the last id of each application that has any.
    private func ranges(_ applications: [Int32]) async throws -> [Int32: ClosedRange<Int64>] {
        let result = try await store.query(
            """
            SELECT a.id, f.id, l.id FROM unnest($1::integer[]) a(id)
            CROSS JOIN LATERAL (SELECT s.id FROM pushmta_engine.console_audience s WHERE s.application_id = a.id
                ORDER BY s.application_id, s.id LIMIT 1) f
            CROSS JOIN LATERAL (SELECT s.id FROM pushmta_engine.console_audience s WHERE s.application_id = a.id
                ORDER BY s.application_id DESC, s.id DESC LIMIT 1) l
            """,
            [.int32Array(applications)]
        )
        var ranges: [Int32: ClosedRange<Int64>] = [:]
        try result.each { row in
            let (application, first, last) = (try row.int32(), try row.int64(), try row.int64())
            ranges[application] = first...max(first, last)
        }
        return ranges
    }

    /// Reads one window from each of equal pieces of each application's ids.
    ///
    /// - Parameter round: the windows of a round are always the same, so that two counts differ only by their rounds.
    private func sample(_ ranges: [Int32: ClosedRange<Int64>], _ round: Int) async throws -> [(Int32, Sum)] {
        var applications: [Int32] = []
        var lows: [Int64] = []
        for (application, range) in ranges {
            let piece = Double(max(Int64(range.count) - Self.width, 0)) / Double(Self.windows)
            for place in 0..<Self.windows {
                applications.append(application)
                lows.append(range.lowerBound + Int64((Double(place) + Self.shift(round, place)) * piece))
            }
        }
        let condition = sampled ?? self.condition
        let result = try await store.query(
            Self.sampleSQL(condition, exclusion: exclusion),
            [.int32Array(applications), .int64Array(lows), .int64(Self.width)] + (condition?.parameters ?? [])
        )
        return try store.all(result) { row in
            (try row.int32(), Sum(chosen: try row.int64(), excluded: try row.int64()))
        }
    }

    /// Where the window of a piece begins, from 0 to 1: multiples of two irrational numbers, which spread evenly.
    static func shift(_ round: Int, _ place: Int) -> Double {
        (Double(round + 1) * 0.618_033_988_75 + Double(place) * 0.754_877_666_25).truncatingRemainder(dividingBy: 1)
    }

    /// Parameters: the application, the last id before the step, and how many subscriptions it has.
    private static func stepSQL(_ filter: FilterSQL?, exclusion: String) -> String {
        let slice = """
            SELECT * FROM pushmta_engine.console_audience s WHERE (s.application_id, s.id) > ($1, $2) AND s.application_id = $1
                ORDER BY s.application_id, s.id LIMIT $3
            """
        let asks = filter?.tablesSQL.isEmpty == false
        return """
            \(asks ? "WITH step AS MATERIALIZED (\(slice)), \(filter?.tablesSQL ?? "")judged AS (" : "WITH judged AS (")
                SELECT s.id, \(exclusion) AS exclusion, (\(filter?.condition ?? "true")) AS chosen
                FROM \(asks ? "step" : "(\(slice))") s\(filter?.joinsSQL ?? "")
            )
            SELECT count(*) FILTER (WHERE c.chosen AND c.exclusion = 0),
                count(*) FILTER (WHERE c.chosen AND c.exclusion NOT IN (0, \(Store.seedExclusion))),
                count(*), coalesce(max(c.id), 0)
            FROM judged c
            """
    }

    /// Parameters: the application and the first id of each window, and how many ids a window has.
    static func sampleSQL(_ filter: FilterSQL?, exclusion: String = "s.exclusion") -> String {
        let window =
            "pushmta_engine.console_audience s WHERE s.application_id = w.application AND s.id >= w.low AND s.id < w.low + $3"
        let windows = "unnest($1::integer[], $2::bigint[]) WITH ORDINALITY w(application, low, n)"
        let judged = "\(exclusion) AS exclusion, (\(filter?.condition ?? "true")) AS chosen"
        let counts = """
            SELECT w.application, count(*) FILTER (WHERE c.exclusion = 0),
                count(*) FILTER (WHERE c.exclusion NOT IN (0, \(Store.seedExclusion)))
            """
        guard let filter, !filter.tablesSQL.isEmpty else {
            return """
                \(counts) FROM \(windows) CROSS JOIN LATERAL (SELECT \(judged) FROM \(window) OFFSET 0) c
                WHERE c.chosen GROUP BY w.n, w.application
                """
        }
        return """
            WITH looked AS MATERIALIZED (
                SELECT w.n, w.application, s.* FROM \(windows) CROSS JOIN LATERAL (SELECT s.* FROM \(window) OFFSET 0) s
            ), \(filter.tablesSQL)c AS (
                SELECT s.n, s.application, \(judged) FROM looked s\(filter.joinsSQL)
            )
            \(counts.replacing("w.application", with: "c.application")) FROM c WHERE c.chosen GROUP BY c.n, c.application
            """
    }

    /// The place of the first digit of an error: smaller digits of an estimate mean nothing.
    static func unit(_ error: Double) -> Double {
        var unit = 1.0
        while error / unit >= 10 { unit *= 10 }
        return unit
    }

    /// A value rounded to a unit.
    static func rounded(_ value: Double, _ unit: Double) -> Int64 { Int64((value / unit).rounded() * unit) }
}
