import PushCore
import Store
import Testing

@Suite("When the last message of a delivery leaves")
struct SendingForecastTests {
    /// The day of the start in UTC, in SQL: so far ahead that nothing is prepared for it yet.
    private static let day = "((now() AT TIME ZONE 'UTC')::date + 10)"

    /// 90 subscribers: 30 in Tokyo, 30 in Los Angeles, and 30 without a zone, whose service is in Berlin.
    private func site() async throws -> PlanFixture {
        let site = try await PlanFixture.make(90)
        try await site.sql(
            """
            UPDATE pushmta_engine.subscription
            SET time_zone = CASE id % 3 WHEN 0 THEN 'Asia/Tokyo' WHEN 1 THEN 'America/Los_Angeles' ELSE '' END
            """
        )
        try await change(site, "set_service_hours('shop', '{\"time_zone\": \"Europe/Berlin\"}')")
        return site
    }

    private func change(_ site: PlanFixture, _ call: String) async throws {
        try await site.sql("DO $$ BEGIN PERFORM pushmta.\(call); END $$")
    }

    /// Analyses a delivery and gives it a start at a time of day in UTC, on a day to come.
    private func forecast(_ site: PlanFixture, _ id: Int64, at time: String) async throws -> DeliveryAnalysisRow {
        try await site.store.analyzeDelivery(id)
        try await site.prepare()
        try await change(site, "start_delivery(\(id), (\(Self.day) + time '\(time)') AT TIME ZONE 'UTC')")
        return try await site.store.analysis(ofDelivery: id)
    }

    /// The seconds from a time of day in UTC, on that day, to a moment in SQL.
    private func seconds(_ site: PlanFixture, from time: String, to moment: String) async throws -> Double {
        let found = try await site.sql(
            "SELECT extract(epoch FROM \(moment) - (\(Self.day) + time '\(time)') AT TIME ZONE 'UTC')::bigint"
        )
        return Double(try required(found))
    }

    @Test("Nothing decides it without a limit and a plan")
    func plain() async throws {
        let site = try await site()
        let row = try await forecast(site, try await site.edited("{}"), at: "06:00")
        #expect(row.seconds == nil && row.endsAt == nil && row.limitedBy == nil && row.bound == nil)
        #expect(row.messages == 90)
    }

    @Test("A limit counts from the start on")
    func rate() async throws {
        let site = try await site()
        let id = try await site.edited("{}")
        try await change(site, "set_rate('application', 'shop-ios', 2)")
        let row = try await forecast(site, id, at: "06:00")
        #expect(row.seconds == 45 && row.limitedBy == "application shop-ios: 2 messages a second")
        #expect(row.bound?.kind == .rate && row.bound?.name == "application shop-ios" && row.bound?.beginsAt == nil)
        let ends = try await site.sql(
            """
            SELECT count(*) FROM pushmta.delivery_analysis a
            WHERE a.ends_at = (\(Self.day) + time '06:00:45') AT TIME ZONE 'UTC' AND a.seconds = 45
            """
        )
        #expect(ends == 1)
    }

    @Test("A wave begins when its pause is over, and not before the last one has left")
    func pauses() async throws {
        let site = try await site()
        let plan = #"{"waves": [{"count": 30}, {"count": 30, "after": "1 hour"}, {"after": "2 hours"}]}"#
        let quick = try await site.edited(plan)
        try await change(site, "set_delivery_rate(\(quick), 2)")
        let paused = try await forecast(site, quick, at: "06:00")
        #expect(paused.seconds == 3 * 3_600 + 15 && paused.bound?.kind == .wave && paused.bound?.name == "3")
        // Its messages are dropped until shortly before the start.
        let waves = try await site.store.plan(ofDelivery: quick)?.waves.map(\.messages)
        #expect(waves == [30, 30, 30])
        #expect(paused.bound?.timeZone == "Europe/Berlin" && paused.limitedBy?.hasPrefix("wave 3: begins at ") == true)
        // 6,000 s a wave: the second begins after these, the third 7,200 s after the second began.
        let slow = try await site.edited(plan)
        try await change(site, "set_delivery_rate(\(slow), 0.005)")
        let limited = try await forecast(site, slow, at: "06:00")
        #expect(limited.seconds == 19_200 && limited.limitedBy == "delivery: 0.005 messages a second")
    }

    @Test("A wave of the calendar begins at its moment")
    func calendar() async throws {
        let site = try await site()
        let id = try await site.edited(#"{"waves": [{"count": 30}, {}]}"#)
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery_wave SET starts_at = (\(Self.day) + 1 + time '09:00') AT TIME ZONE 'UTC'
            WHERE delivery_id = \(id) AND number = 2
            """
        )
        let row = try await forecast(site, id, at: "06:00")
        #expect(row.seconds == 27 * 3_600 && row.bound?.kind == .wave && row.bound?.name == "2")
    }

    @Test("The last time zone decides it")
    func zones() async throws {
        let site = try await site()
        // At 06:00 UTC it is afternoon in Tokyo.
        let cases = [
            ("now", "America/Los_Angeles", "(\(Self.day) + time '09:00') AT TIME ZONE 'America/Los_Angeles'"),
            ("next_day", "Asia/Tokyo", "(\(Self.day) + 1 + time '09:00') AT TIME ZONE 'Asia/Tokyo'"),
            ("skip", "America/Los_Angeles", "(\(Self.day) + time '09:00') AT TIME ZONE 'America/Los_Angeles'"),
        ]
        for (past, zone, moment) in cases {
            let id = try await site.edited("{}")
            try await change(site, "set_local_time(\(id), \(Self.day) + time '09:00', '\(past)')")
            let row = try await forecast(site, id, at: "06:00")
            #expect(try await seconds(site, from: "06:00", to: moment) == row.seconds, "\(past)")
            #expect(row.bound?.kind == .zone && row.bound?.name == zone, "\(past): \(String(describing: row.bound))")
            #expect(row.limitedBy?.hasPrefix("time zone \(zone): begins at ") == true)
        }
    }

    @Test("Those whose local time is over at the start are counted as never sent")
    func late() async throws {
        let site = try await site()
        for past in ["skip", "now", "next_day"] {
            let id = try await site.edited("{}")
            try await change(site, "set_local_time(\(id), \(Self.day) + time '09:00', '\(past)')")
            // At 06:00 UTC it is afternoon in Tokyo.
            _ = try await forecast(site, id, at: "06:00")
            let start = try #require(try await site.store.deliveryProgress(id).startAt)
            let later = start.advanced(byMilliseconds: 2 * 86_400_000)
            for (begins, count) in [(nil, 0), (start, 30), (later, 90)] as [(DatabaseTime?, Int64)] {
                let late = try await site.store.lateMessages(ofDelivery: id, start: begins)
                let expected = past == "skip" ? count : 0
                #expect(late.messages == expected && late.isAll == (expected == 90), "\(past): \(late)")
            }
        }
    }

    @Test("Sending hours decide it, also if they end before all has left")
    func hours() async throws {
        let site = try await site()
        try await site.sql("UPDATE pushmta_engine.subscription SET time_zone = 'UTC'")
        func setHours(_ outside: String) async throws {
            let hours = #"[{"weekdays": [1, 2, 3, 4, 5, 6, 7], "opens": "09:00", "closes": "18:00"}]"#
            try await change(site, "set_service_hours('shop', '{\"outside\": \"\(outside)\", \"hours\": \(hours)}')")
        }
        try await setHours("postpone")
        let quick = try await forecast(site, try await site.edited("{}"), at: "20:00")
        #expect(quick.seconds == 13 * 3_600 && quick.bound?.kind == .hours && quick.bound?.name == "UTC")
        // 20 hours of sending: nine on the first two days, two on the third.
        let slow = try await site.edited("{}")
        try await change(site, "set_delivery_rate(\(slow), 90 / 72000.0)")
        let row = try await forecast(site, slow, at: "20:00")
        #expect(try required(row.seconds).rounded() == Double((13 + 24 + 24 + 2) * 3_600))
        #expect(row.bound?.kind == .hours)
        let opens = try required(row.bound?.beginsAt)
        #expect(
            try await seconds(site, from: "20:00", to: "'\(opens)'::timestamptz") == Double((13 + 48) * 3_600)
        )
        try await setHours("drop")
        let dropped = try await forecast(site, try await site.edited("{}"), at: "20:00")
        #expect(dropped.seconds == nil && dropped.bound == nil, "nothing leaves")
    }

    @Test("Hours of years are counted, with a day off among them")
    func manyWeeks() async throws {
        let site = try await site()
        try await site.sql("UPDATE pushmta_engine.subscription SET time_zone = 'UTC'")
        let hours = #"[{"weekdays": [1, 2, 3, 4, 5, 6, 7], "opens": "09:00", "closes": "09:01"}]"#
        try await change(site, "set_service_hours('shop', '{\"outside\": \"postpone\", \"hours\": \(hours)}')")
        try await site.sql(
            "INSERT INTO pushmta_engine.day_off SELECT id, \(Self.day) + 5 FROM pushmta_engine.service WHERE name = 'shop'"
        )
        let id = try await site.edited("{}")
        try await change(site, "set_delivery_rate(\(id), 0.001)")
        // 90,000 s, a minute a day.
        let row = try await forecast(site, id, at: "20:00")
        #expect(try required(row.seconds).rounded() == Double(13 * 3_600 + 1_500 * 86_400 + 60))
        let opens = try required(row.bound?.beginsAt)
        let opening = Double(13 * 3_600 + 1_500 * 86_400)
        #expect(try await seconds(site, from: "20:00", to: "'\(opens)'::timestamptz") == opening)
    }

    @Test("One under way has its forecast from its beginning on, and one that has ended has none")
    func started() async throws {
        let site = try await site()
        let id = try await site.edited("{}")
        try await change(site, "set_rate('application', 'shop-ios', 2)")
        try await site.store.analyzeDelivery(id)
        try await site.prepare()
        try await site.store.startDelivery(id)
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET started_at = started_at - interval '1 hour' WHERE id = \(id)"
        )
        let sending = try await site.store.analysis(ofDelivery: id)
        #expect(sending.seconds == 45 && sending.bound?.kind == .rate)
        let ends = try await site.sql(
            """
            SELECT count(*) FROM pushmta.delivery_analysis a JOIN pushmta_engine.delivery d ON d.id = a.delivery_id
            WHERE a.ends_at = d.started_at + interval '45 seconds'
            """
        )
        #expect(ends == 1)
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET state = 'finished', finished_at = now() WHERE id = \(id)"
        )
        let ended = try await site.store.analysis(ofDelivery: id)
        #expect(ended.seconds == nil && ended.endsAt == nil && ended.limitedBy == nil && ended.bound == nil)
        #expect(ended.messages == 90)
    }

    @Test("One that starts as soon as it is approved would begin now, not when that was requested")
    func awaited() async throws {
        let site = try await site()
        try await site.store.setApprovalRule(service: "shop", above: 10)
        let id = try await site.edited("{}")
        try await change(site, "set_rate('application', 'shop-ios', 2)")
        try await site.store.analyzeDelivery(id)
        try await site.prepare()
        try await site.store.requestApproval(ofDelivery: id)
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET start_at = start_at - interval '6 days' WHERE id = \(id)"
        )
        #expect(try await site.delivery(id, "d.starts_approved"))
        let ends = try await site.sql(
            """
            SELECT count(*) FROM pushmta.delivery_analysis a
            WHERE a.delivery_id = \(id) AND a.seconds = 45 AND a.ends_at = now() + interval '45 seconds'
            """
        )
        #expect(ends == 1)
    }

    @Test("With waves, the local time counts from each wave's beginning")
    func wavesAndZones() async throws {
        let site = try await site()
        let id = try await site.edited(#"{"waves": [{"count": 45}, {}]}"#)
        try await change(site, "set_local_time(\(id), \(Self.day) + time '09:00', 'next_day')")
        let row = try await forecast(site, id, at: "06:00")
        // The first wave ends in Tokyo on the second day; 09:00 of the first has passed everywhere then.
        let last = "(\(Self.day) + 1 + time '09:00') AT TIME ZONE 'America/Los_Angeles'"
        #expect(try await seconds(site, from: "06:00", to: last) == row.seconds)
        #expect(row.bound?.kind == .zone && row.bound?.name == "America/Los_Angeles")
        let rest = try await site.edited(#"{"waves": [{"count": 45}, {}]}"#)
        try await change(site, "set_local_time(\(rest), \(Self.day) + time '09:00', 'now')")
        let at = try await forecast(site, rest, at: "06:00")
        let first = "(\(Self.day) + time '09:00') AT TIME ZONE 'America/Los_Angeles'"
        #expect(try await seconds(site, from: "06:00", to: first) == at.seconds)
        #expect(at.bound?.kind == .wave && at.bound?.name == "2")
    }

    @Test("The rest of an experiment waits for its winner")
    func winner() async throws {
        let site = try await site()
        let id = try await site.edited("{}")
        let variants = """
            [{"label": "a", "percent": 20}, {"label": "b", "percent": 20, "content": {"ios": {"title": "Ho"}}}]
            """
        try await change(
            site,
            "set_experiment(\(id), '\(variants)', decide_after => interval '4 hours', early => false)"
        )
        let row = try await forecast(site, id, at: "06:00")
        #expect(row.seconds == 4 * 3_600 && row.bound?.kind == .winner && row.bound?.name == "")
        let counted = try await site.store.experimentVariants(ofDelivery: id).reduce(0) { $0 + $1.messages }
        #expect(counted == 90)
        // About 18 messages of each variant: an early winner is possible only if so few are enough.
        for (leastSample, isLate) in [(60, true), (2, false)] {
            let early = try await site.edited("{}")
            try await change(
                site,
                """
                set_experiment(\(early), '\(variants)', decide_after => interval '4 hours',
                    least_sample => \(leastSample))
                """
            )
            let found = try await forecast(site, early, at: "06:00")
            #expect((found.bound?.kind == .winner) == isLate, "\(leastSample): \(String(describing: found.bound))")
        }
    }
}
