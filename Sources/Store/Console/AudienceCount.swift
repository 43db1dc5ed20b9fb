import PostgresClient
import PushCore

/// How many subscriptions a target chooses, as far as they were counted.
public struct AudienceCount: Sendable, Hashable {
    /// Those that a message would go to.
    public let count: Int64
    /// Those that the target chooses and nothing is sent to: disabled, opted out, or in quarantine.
    public let excluded: Int64
    /// How far off the number may be: it is an estimate, which is nearer in 19 of 20 cases. Nil for one that was counted.
    public let error: Int64?
    /// Whether the filter asks for columns of a mapping, which only preparation reads: then nobody was counted.
    public let needsMapping: Bool

    init(
        count: Int64,
        excluded: Int64,
        error: Int64? = nil,
        needsMapping: Bool = false
    ) {
        self.count = count
        self.excluded = excluded
        self.error = error
        self.needsMapping = needsMapping
    }
}

extension Store {
    /// Counts whom a filter chooses among the subscribers of applications, for no longer than a page may wait.
    ///
    /// Half of the time is for counting; what is left then is estimated from a sample in the other half, and once at least. Exclusion lists
    /// and double push tokens are not looked at: preparation is. Throws ``StoreError`` of code `invalid` for a filter that compares what
    /// cannot be compared.
    ///
    /// - Parameter isOneTimeCode: whether those who opted out count as reached.
    public func countAudience(
        _ filter: TargetFilter?,
        applications: [Int32],
        isOneTimeCode: Bool = false,
        within limit: Duration
    ) async throws -> AudienceCount {
        if let filter, !filter.mappingColumns.isEmpty {
            return AudienceCount(count: 0, excluded: 0, needsMapping: true)
        }
        let start = try await databaseClock()
        var target = ChunkTarget()
        target.isOneTimeCode = isOneTimeCode
        let counter = AudienceCounter(
            store: self,
            exclusion: target.exclusionSQL(of: "s"),
            condition: try filter.map { try FilterSQL($0, firstParameter: 4, mapping: nil, start: start) }
        )
        let deadline = ContinuousClock.now.advanced(by: limit)
        var counted = AudienceCounter.Sum()
        for (place, application) in applications.enumerated() {
            let (own, isWhole) = try await counter.count(application, until: deadline - limit / 2)
            guard isWhole else {
                return try await counter.estimate(
                    applications[place...].map { $0 },
                    beside: counted,
                    counted: own,
                    until: deadline
                )
            }
            counted.add(own)
        }
        return AudienceCount(count: counted.chosen, excluded: counted.excluded)
    }
}

/// Counts and estimates whom one condition chooses.
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
    /// Why a subscription `s` gets nothing, 0 if it gets something.
    var exclusion = "s.exclusion"
    let condition: FilterSQL?

    /// Subscriptions of a step: some 20 milliseconds where each has to be read.
    private static let step: Int64 = 5_000
    /// Ids of a window of a sample, and windows of an application in one statement: as much as a step.
    private static let (width, windows): (Int64, Int) = (250, 20)
    /// Of a normal distribution 19 of 20 values lie within so many deviations.
    private static let deviations = 1.96
    /// Where all windows agree (mostly because no one was found), no more than so many in all that were looked at would differ by one, with
    /// the same probability (the rule of three).
    private static let mostThatDiffer = 3.0

    /// Counts the subscriptions of an application from the first on, until all are counted or the time is over.
    func count(_ application: Int32, until deadline: ContinuousClock.Instant) async throws -> (Sum, isWhole: Bool) {
        var sum = Sum()
        var through: Int64 = 0
        while true {
            let result = try await store.query(
                """
                SELECT count(*) FILTER (WHERE c.chosen AND c.exclusion = 0),
                    count(*) FILTER (WHERE c.chosen AND c.exclusion NOT IN (0, \(Store.seedExclusion))),
                    count(*), coalesce(max(c.id), 0)
                FROM (SELECT s.id, \(exclusion) AS exclusion, (\(condition?.condition ?? "true")) AS chosen
                    FROM pushmta_engine.console_audience s WHERE (s.application_id, s.id) > ($1, $2) AND s.application_id = $1
                    ORDER BY s.application_id, s.id LIMIT $3) c
                """,
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

    /// Estimates how many of these applications' subscriptions are chosen, from windows of ids that lie everywhere between the first and
    /// the last one.
    ///
    /// - Parameters:
    ///   - known: what other applications have, which is counted.
    ///   - counted: what the first of these has at least.
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
            for (application, sum) in try await sample(ranges) { windows[application, default: []].append(sum) }
            rounds += 1
        } while ContinuousClock.now < deadline
        var (chosen, excluded) = (Double(known.chosen), Double(known.excluded))
        var (variance, unseen) = (0.0, 0.0)
        for (application, range) in ranges {
            let looked = Double(rounds * Self.windows)
            // How many windows the application has.
            let all = Double(range.count) / Double(Self.width)
            let found = windows[application] ?? []
            let sum = found.reduce(0.0) { $0 + Double($1.chosen) }
            let squares = found.reduce(0.0) { $0 + Double($1.chosen) * Double($1.chosen) }
            chosen += sum / looked * all
            excluded += found.reduce(0.0) { $0 + Double($1.excluded) } / looked * all
            // Windows in which no one was found count as 0.
            let spread = max(squares - sum * sum / looked, 0)
            variance += spread / (looked - 1) / looked * all * all
            if spread == 0 { unseen += Self.mostThatDiffer / looked * all }
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

    /// Looks into one window of each of equal pieces of the ids of each application.
    private func sample(_ ranges: [Int32: ClosedRange<Int64>]) async throws -> [(Int32, Sum)] {
        var applications: [Int32] = []
        var lows: [Int64] = []
        for (application, range) in ranges {
            let piece = Double(max(Int64(range.count) - Self.width, 0)) / Double(Self.windows)
            for place in 0..<Self.windows {
                applications.append(application)
                lows.append(range.lowerBound + Int64((Double(place) + Double.random(in: 0..<1)) * piece))
            }
        }
        let result = try await store.query(
            Self.sampleSQL(condition?.condition ?? "true", exclusion: exclusion),
            [.int32Array(applications), .int64Array(lows), .int64(Self.width)] + (condition?.parameters ?? [])
        )
        return try store.all(result) { row in
            (try row.int32(), Sum(chosen: try row.int64(), excluded: try row.int64()))
        }
    }

    /// Parameters: the application and the first id of each window, and how many ids a window has.
    static func sampleSQL(_ condition: String, exclusion: String = "s.exclusion") -> String {
        """
        SELECT w.application, count(*) FILTER (WHERE c.exclusion = 0), count(*) FILTER (WHERE c.exclusion NOT IN (0, \(Store.seedExclusion)))
        FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY w(application, low, n)
        CROSS JOIN LATERAL (SELECT \(exclusion) AS exclusion, (\(condition)) AS chosen FROM pushmta_engine.console_audience s
            WHERE s.application_id = w.application AND s.id >= w.low AND s.id < w.low + $3 OFFSET 0) c
        WHERE c.chosen GROUP BY w.n, w.application
        """
    }

    /// The place of the first digit of an error: what is smaller says nothing of an estimate.
    static func unit(_ error: Double) -> Double {
        var unit = 1.0
        while error / unit >= 10 { unit *= 10 }
        return unit
    }

    /// A number without what is smaller than a unit.
    static func rounded(_ value: Double, _ unit: Double) -> Int64 { Int64((value / unit).rounded() * unit) }
}
