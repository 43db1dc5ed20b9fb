import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The moments of recurring deliveries")
struct RecurrenceMomentTests {
    private static let zones = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Australia/Sydney", "Pacific/Kiritimati",
        "Pacific/Niue", "Etc/GMT+12", "Asia/Kathmandu", "America/St_Johns", "UTC",
    ]

    /// The SQL of a rule with all its values.
    private func literal(_ rule: RecurrenceRule) -> String {
        func list(_ elements: [String]) -> String { "'{\(elements.joined(separator: ","))}'" }
        return """
            ROW(1, 'active', '', \(rule.every), '\(rule.unit.rawValue)', \(list(rule.times ?? []))::time[], '\(rule.timeZone)',
                \(list((rule.weekdays ?? []).map { "\($0)" }))::integer[], \(list((rule.monthDays ?? []).map { "\($0)" }))::integer[],
                '\(rule.startsOn ?? "")'::date, \(rule.endsOn.map { "'\($0)'" } ?? "NULL")::date,
                \(list(rule.exceptDates))::date[], 'skip', NULL, NULL, NULL, now())::pushmta_engine.recurrence
            """
    }

    /// The first moments after one, in seconds since 1970.
    private func chain(_ connection: PostgresConnection, _ rule: RecurrenceRule, after begin: Int, count: Int)
        async throws -> [Int]
    {
        let text = literal(rule)
        let result = try await connection.execute(
            PostgresStatement(
                """
                WITH RECURSIVE n (moment, place) AS (
                    SELECT pushmta_engine.next_run(\(text), to_timestamp(\(begin))), 1
                    UNION ALL
                    SELECT pushmta_engine.next_run(\(text), n.moment), n.place + 1 FROM n
                    WHERE n.moment IS NOT NULL AND n.place < \(count)
                )
                SELECT coalesce(array_agg(extract(epoch FROM n.moment)::bigint ORDER BY n.place), '{}') FROM n
                WHERE n.moment IS NOT NULL
                """,
                prepare: false
            )
        )
        return try result.int64Array(0, 0).map { Int($0) }
    }

    private func randomRule(_ random: inout TestRandom) -> RecurrenceRule {
        var rule = RecurrenceRule(
            unit: RecurrenceRule.Unit.allCases[random.below(4)],
            timeZone: Self.zones[random.below(Self.zones.count)]
        )
        let days = 21_100 + random.below(450)
        rule.startsOn = RecurrenceModel.date(days)
        if random.oneIn(3) { rule.endsOn = RecurrenceModel.date(days + random.below(500)) }
        let times = ["00:00", "00:30", "01:30", "02:00", "02:15", "02:30", "03:00", "09:00", "12:45", "23:30"]
        rule.times = (0...(rule.unit == .hours ? 0 : random.below(3))).map { _ in times[random.below(times.count)] }
        rule.every = [1, 1, 2, 3, 5][random.below(5)]
        rule.weekdays = rule.unit == .weeks ? (0...random.below(4)).map { _ in Int32(1 + random.below(7)) } : []
        let ofMonth: [Int32] = [1, 15, 28, 29, 30, 31, -1, -2, -30, -31]
        rule.monthDays =
            rule.unit == .months ? (0...random.below(3)).map { _ in ofMonth[random.below(ofMonth.count)] } : []
        if rule.unit == .hours { rule.every = [1, 5, 7, 24, 36][random.below(5)] }
        if rule.unit == .months { rule.every = [1, 1, 2, 4, 12][random.below(5)] }
        rule.exceptDates = (0..<[0, 0, 2, 30][random.below(4)]).map { _ in
            RecurrenceModel.date(days + random.below(400))
        }
        return rule
    }

    /// From December 2027 on: a year with 29 February and both changes of the clock in north and south.
    @Test("Random rules have the moments that a walk through the zone finds")
    func model() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        let seed = TestRandom.seed(for: "recurrence moments")
        var random = TestRandom(seed: seed)
        let range = try RecurrenceModel.days("2027-12-01") * 86_400..<RecurrenceModel.days("2029-01-15") * 86_400
        for _ in 0..<40 {
            let rule = randomRule(&random)
            // A moment at the very start would not be after it.
            let wanted = try RecurrenceModel(rule).moments(range.lowerBound + 1..<range.upperBound).prefix(100)
            let found = try await chain(connection, rule, after: range.lowerBound, count: wanted.count + 1)
            #expect(Array(found.prefix(wanted.count)) == Array(wanted), "seed \(seed): \(rule)")
            if wanted.count < 100, found.count > wanted.count {
                #expect(found[wanted.count] >= range.upperBound, "seed \(seed): \(rule)")
            }
        }
        await connection.close()
    }

    /// A rule, and the moments that it has after the start of 2028.
    struct Case: Sendable {
        let rule: RecurrenceRule
        let moments: [String]

        init(
            _ unit: RecurrenceRule.Unit,
            _ zone: String,
            _ time: String,
            from first: String,
            every: Int32 = 1,
            weekdays: [Int32] = [],
            monthDays: [Int32] = [],
            _ moments: [String]
        ) {
            var rule = RecurrenceRule(unit: unit, timeZone: zone)
            rule.times = [time]
            rule.startsOn = first
            rule.every = every
            rule.weekdays = weekdays
            rule.monthDays = monthDays
            self.rule = rule
            self.moments = moments
        }
    }

    static let cases = [
        // 02:30 is skipped: it is read with the offset before, as calendars do.
        Case(
            .days,
            "Europe/Berlin",
            "02:30",
            from: "2028-03-25",
            ["2028-03-25T01:30Z", "2028-03-26T01:30Z", "2028-03-27T00:30Z"]
        ),
        // 02:30 comes twice: the first counts.
        Case(
            .days,
            "Europe/Berlin",
            "02:30",
            from: "2028-10-28",
            ["2028-10-28T00:30Z", "2028-10-29T00:30Z", "2028-10-30T01:30Z"]
        ),
        // A change by half an hour.
        Case(
            .days,
            "Australia/Lord_Howe",
            "01:45",
            from: "2028-04-01",
            ["2028-03-31T14:45Z", "2028-04-01T14:45Z", "2028-04-02T15:15Z"]
        ),
        Case(.days, "Pacific/Kiritimati", "00:00", from: "2028-03-01", ["2028-02-29T10:00Z", "2028-03-01T10:00Z"]),
        Case(.days, "Etc/GMT+12", "23:30", from: "2028-02-29", ["2028-03-01T11:30Z", "2028-03-02T11:30Z"]),
        // Hours are counted as they pass.
        Case(
            .hours,
            "Europe/Berlin",
            "20:00",
            from: "2028-03-25",
            every: 6,
            ["2028-03-25T19:00Z", "2028-03-26T01:00Z", "2028-03-26T07:00Z"]
        ),
        // Months without the day have no run on it.
        Case(
            .months,
            "UTC",
            "09:00",
            from: "2028-01-31",
            monthDays: [31],
            ["2028-01-31T09:00Z", "2028-03-31T09:00Z", "2028-05-31T09:00Z"]
        ),
        Case(
            .months,
            "UTC",
            "09:00",
            from: "2028-01-31",
            monthDays: [-1],
            ["2028-01-31T09:00Z", "2028-02-29T09:00Z", "2028-03-31T09:00Z", "2028-04-30T09:00Z"]
        ),
        Case(
            .months,
            "UTC",
            "09:00",
            from: "2028-02-29",
            every: 12,
            monthDays: [29],
            ["2028-02-29T09:00Z", "2032-02-29T09:00Z", "2036-02-29T09:00Z"]
        ),
        // Weeks begin on Mondays: 2028-01-05 is a Wednesday.
        Case(
            .weeks,
            "UTC",
            "09:00",
            from: "2028-01-05",
            every: 2,
            weekdays: [1, 3],
            ["2028-01-05T09:00Z", "2028-01-17T09:00Z", "2028-01-19T09:00Z", "2028-01-31T09:00Z"]
        ),
    ]

    @Test("Changes of the clock, 29 February, months without a day", arguments: cases)
    func fixed(_ example: Case) async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        let begin = try RecurrenceModel.days("2028-01-01") * 86_400
        let found = try await chain(connection, example.rule, after: begin, count: example.moments.count)
        let wanted = try example.moments.map { text in
            Int(try required(ZonedTime(text)).microsecondsSince1970 / 1_000_000)
        }
        #expect(found == wanted)
        await connection.close()
    }

    @Test("However far away the next moment is, it is computed, not looked for")
    func far() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        var rule = RecurrenceRule(unit: .days, timeZone: "Europe/Berlin")
        rule.times = ["09:00"]
        rule.startsOn = "2000-01-01"
        rule.every = 7
        let dates = "SELECT count(*) FROM pushmta_engine.recurrence_dates(\(literal(rule)), '2999-12-01')"
        #expect(try await fixture.sql(dates) == 6)
        rule.unit = .months
        rule.every = 12
        rule.monthDays = [29]
        rule.startsOn = "2096-02-29"
        // 2100 is no leap year.
        let begin = try RecurrenceModel.days("2096-03-01") * 86_400
        let found = try await chain(connection, rule, after: begin, count: 1)
        #expect(found == [try RecurrenceModel.days("2104-02-29") * 86_400 + 8 * 3_600])
        // 30 February never comes.
        rule.monthDays = [30]
        #expect(try await chain(connection, rule, after: begin, count: 1).isEmpty)
        await connection.close()
    }
}
