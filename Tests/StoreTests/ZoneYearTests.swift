import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// Compares the zones' arithmetic with a plain model over the year 2028, which has a 29 February.
@Suite("A year of sending hours and local times")
struct ZoneYearTests {
    @Test("The next sending hours are those of the model, in every zone and on both days when the clock changes")
    func hours() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(Self.hoursSQL)
        let seed = TestRandom.seed(for: "a year of sending hours")
        var random = TestRandom(seed: seed)
        let around: [Int64] = [-86_400, -3_600, -1_800, -60, 0, 60, 1_800, 3_600]
        var moments: [(zone: String, at: Int64)] = []
        for (zone, steps) in ZoneYear.zones.sorted(by: { $0.key < $1.key }) {
            for day in Int64(0)..<366 {
                let second = Int64.random(in: 0..<86_400, using: &random)
                moments.append((zone: zone, at: ZoneYear.start + day * 86_400 + second))
            }
            for step in steps.dropFirst() {
                for distance in around { moments.append((zone: zone, at: step.from + distance)) }
            }
        }
        let found = try await rows(
            fixture,
            """
            SELECT extract(epoch FROM h.opens)::bigint, extract(epoch FROM h.closes)::bigint
            FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY u(zone, at, place)
            CROSS JOIN LATERAL pushmta_engine.next_hours(1, u.zone, to_timestamp(u.at)) h ORDER BY u.place
            """,
            [.textArray(moments.map(\.zone)), .int64Array(moments.map(\.at))]
        )
        let windows = ZoneYear.zones.mapValues { ZoneYear(steps: $0).windows() }
        for (moment, row) in zip(moments, found) {
            let next = windows[moment.zone]?.first { $0.to > max(moment.at, $0.from) }
            #expect(
                row == [next.map { max($0.from, moment.at) }, next?.to],
                "\(moment.zone) at \(moment.at), seed \(seed)"
            )
        }
    }

    @Test("The moment of a local time is that of the model, also where the clock skips or repeats it")
    func moments() async throws {
        let fixture = try await StoreFixture.make()
        let seed = TestRandom.seed(for: "a year of local times")
        var random = TestRandom(seed: seed)
        let rules = DeliveryPlan.PastRule.allCases
        var cases: [(zone: String, local: Int64, begins: Int64, rule: DeliveryPlan.PastRule)] = []
        for (zone, steps) in ZoneYear.zones.sorted(by: { $0.key < $1.key }) {
            for _ in 0..<200 {
                let local = ZoneYear.start + Int64.random(in: 0..<360 * 86_400, using: &random)
                let begins = local + Int64.random(in: -200_000...200_000, using: &random)
                cases.append((zone: zone, local: local, begins: begins, rule: rules[random.below(rules.count)]))
            }
            for step in steps.dropFirst() {
                for half in Int64(-4)...4 {
                    let begins = step.from + Int64.random(in: -90_000...9_000, using: &random)
                    let local = step.from + step.offset + half * 1_800
                    for rule in rules { cases.append((zone: zone, local: local, begins: begins, rule: rule)) }
                }
            }
        }
        let found = try await rows(
            fixture,
            """
            SELECT extract(epoch FROM pushmta_engine.local_moment(timestamp '1970-01-01' + u.local * interval '1 s', u.zone,
                to_timestamp(u.begins), u.rule))::bigint
            FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[]) WITH ORDINALITY u(zone, local, begins, rule, place)
            ORDER BY u.place
            """,
            [
                .textArray(cases.map(\.zone)), .int64Array(cases.map(\.local)), .int64Array(cases.map(\.begins)),
                .textArray(cases.map(\.rule.rawValue)),
            ]
        )
        for (given, row) in zip(cases, found) {
            let year = ZoneYear(steps: ZoneYear.zones[given.zone] ?? [])
            #expect(
                row == [year.moment(given.local, begins: given.begins, given.rule)],
                "\(given.zone), \(given.local), \(given.begins), \(given.rule), seed \(seed)"
            )
        }
    }

    private func rows(_ fixture: StoreFixture, _ sql: String, _ parameters: [PostgresValue]) async throws -> [[Int64?]]
    {
        let connection = try await fixture.database.connect()
        defer { Task { await connection.close() } }
        let result = try await connection.execute(PostgresStatement(sql, parameters))
        return try (0..<result.rowCount).map { row in
            try (0..<result.columnCount).map { try result.int64OrNil(row, $0) }
        }
    }

    private static var hoursSQL: String {
        let rows = ZoneYear.hours.map { line in
            let closes = line.to == 86_400 ? "time '24:00'" : "time '00:00' + interval '\(line.to) s'"
            return "(1, \(line.weekday), time '00:00' + interval '\(line.from) s', \(closes))"
        }
        let days = ZoneYear.daysOff.sorted().map { day in "(1, date '1970-01-01' + \(day))" }
        return """
            WITH hours AS (INSERT INTO pushmta_engine.sending_hours VALUES \(rows.joined(separator: ", ")))
            INSERT INTO pushmta_engine.day_off VALUES \(days.joined(separator: ", "))
            """
    }
}

/// The clock of a zone in 2028, as a list of offsets. Seconds since 1970, here and on the zone's clock.
struct ZoneYear {
    let steps: [(from: Int64, offset: Int64)]

    /// 2028-01-01 00:00 UTC.
    static let start: Int64 = 1_830_297_600

    /// From Python's zoneinfo: when each offset begins.
    static let zones: [String: [(from: Int64, offset: Int64)]] = [
        "UTC": [(1_829_692_800, 0)],
        "Europe/Berlin": [(1_829_692_800, 3_600), (1_837_645_200, 7_200), (1_856_394_000, 3_600)],
        "America/New_York": [(1_829_692_800, -18_000), (1_836_457_200, -14_400), (1_857_016_800, -18_000)],
        "America/Santiago": [(1_829_692_800, -10_800), (1_838_257_200, -14_400), (1_851_566_400, -10_800)],
        "Australia/Lord_Howe": [(1_829_692_800, 39_600), (1_838_214_000, 37_800), (1_853_940_600, 39_600)],
        "Pacific/Kiritimati": [(1_829_692_800, 50_400)],
        "Etc/GMT+12": [(1_829_692_800, -43_200)],
        "Pacific/Chatham": [(1_829_692_800, 49_500), (1_838_210_400, 45_900), (1_853_330_400, 49_500)],
        "Asia/Kathmandu": [(1_829_692_800, 20_700)],
        "America/St_Johns": [(1_829_692_800, -12_600), (1_836_451_800, -9_000), (1_857_011_400, -12_600)],
        "Asia/Tokyo": [(1_829_692_800, 32_400)],
        "Atlantic/Azores": [(1_829_692_800, -3_600), (1_837_645_200, 0), (1_856_394_000, -3_600)],
    ]

    /// Hours by weekday, in seconds of the day; some of them are skipped or repeated when the clock changes.
    static let hours: [(weekday: Int64, from: Int64, to: Int64)] = [
        (1, 32_400, 45_000), (2, 32_400, 45_000), (2, 50_400, 86_400), (3, 32_400, 45_000), (4, 32_400, 45_000),
        (4, 50_400, 86_400), (5, 32_400, 45_000), (6, 5_400, 8_100), (7, 0, 8_100), (7, 9_000, 10_800),
    ]

    /// Days since 1970: 29 February, a Sunday on which clocks change, two weeks of August, Christmas.
    static let daysOff: Set<Int64> = {
        let august: [Int64] = Array(213..<227)
        let days: [Int64] = [59, 85, 359] + august
        return Set(days.map { start / 86_400 + $0 })
    }()

    /// The moment at which the zone's clock shows a time. A time that is skipped counts by the clock before, one that is
    /// repeated by the clock after, as in PostgreSQL.
    func utc(_ local: Int64) -> Int64 {
        for (before, after) in zip(steps, steps.dropFirst()) {
            let (old, new) = (after.from + before.offset, after.from + after.offset)
            if (min(old, new)..<max(old, new)).contains(local) {
                return local - (old < new ? before.offset : after.offset)
            }
        }
        let fits = steps.map { local - $0.offset }.first { $0 + offset(at: $0) == local }
        return fits ?? local
    }

    private func offset(at moment: Int64) -> Int64 { (steps.last { $0.from <= moment } ?? steps[0]).offset }

    /// All sending hours of the year, and a few days around it.
    func windows() -> [(from: Int64, to: Int64)] {
        let first = Self.start / 86_400
        var windows: [(from: Int64, to: Int64)] = []
        for day in first - 5..<first + 372 where !Self.daysOff.contains(day) {
            // 1970-01-01 was a Thursday.
            let weekday = (day + 3) % 7 + 1
            for line in Self.hours where line.weekday == weekday {
                let (from, to) = (utc(day * 86_400 + line.from), utc(day * 86_400 + line.to))
                if from < to { windows.append((from: from, to: to)) }
            }
        }
        return windows.sorted { $0.from < $1.from }
    }

    func moment(_ local: Int64, begins: Int64, _ rule: DeliveryPlan.PastRule) -> Int64? {
        let moment = utc(local)
        if moment >= begins { return moment }
        switch rule {
        case .now: return begins
        case .skip: return nil
        case .nextDay:
            let today = (begins + offset(at: begins)) / 86_400
            let days: [Int64] = [0, 1, 2]
            return days.map { utc((today + $0) * 86_400 + local % 86_400) }.filter { $0 >= begins }.min()
        }
    }
}
