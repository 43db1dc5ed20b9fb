import PushCore
import Store
import TestSupport
import Testing

@Suite("The recipient's time, and sending hours")
struct LocalTimeTests {
    /// 90 subscribers: 30 in Tokyo, 30 in New York, and 30 whose zone is unknown or no zone.
    private func site() async throws -> PlanFixture {
        let site = try await PlanFixture.make(90)
        try await site.sql(
            """
            UPDATE pushmta_engine.subscription SET time_zone = CASE id % 3 WHEN 0 THEN 'Asia/Tokyo' WHEN 1 THEN 'America/New_York'
                ELSE CASE WHEN id % 2 = 0 THEN '' ELSE 'Nowhere/Land' END END
            """
        )
        return site
    }

    /// Sets hours of all weekdays on the clock of UTC, which all subscribers then have.
    private func hours(_ site: PlanFixture, _ opens: String, _ closes: String, _ outside: String = "postpone")
        async throws
    {
        try await site.sql("UPDATE pushmta_engine.subscription SET time_zone = 'UTC'")
        try await site.sql(
            """
            DO $$ BEGIN PERFORM pushmta.set_service_hours('shop', jsonb_build_object('outside', '\(outside)', 'hours',
                jsonb_build_array(jsonb_build_object('weekdays', '[1, 2, 3, 4, 5, 6, 7]'::jsonb, 'opens', '\(opens)',
                    'closes', '\(closes)')))); END $$
            """
        )
    }

    /// A time of tomorrow in UTC, in SQL.
    private func tomorrow(_ time: String) -> String {
        "(((now() AT TIME ZONE 'UTC')::date + 1 + time '\(time)') AT TIME ZONE 'UTC')"
    }

    @Test("Where a subscription has no zone, the declared column counts; a name that is unknown is counted")
    func declaredColumn() async throws {
        let site = try await site()
        try await site.sql(
            """
            UPDATE pushmta_engine.subscription SET recipient = jsonb_build_object('zone',
                CASE WHEN id % 2 = 0 THEN 'Pacific/Auckland' ELSE 'Mars/Olympus' END)
            """
        )
        let declared = #"[{"column": "recipient.zone", "name": "tz"}]"#
        let marked = #"[{"column": "recipient.zone", "name": "tz", "time_zone": true}]"#
        let cases: [(parameters: String, auckland: Int64, unknown: Int64)] = [(declared, 0, 0), (marked, 15, 15)]
        for (parameters, auckland, unknown) in cases {
            try await site.sql("UPDATE pushmta_engine.application SET subscription_parameters = '\(parameters)'")
            let id = try await site.edited("{}")
            try await site.sql(
                """
                DO $$ BEGIN PERFORM pushmta.set_local_time(\(id), (now() AT TIME ZONE 'UTC')::date + 2 + time '09:00', 'now'); END $$
                """
            )
            try await site.store.startDelivery(id)
            try await site.prepare()
            #expect(try await site.messages(id, "p.time_zone = 'Pacific/Auckland'") == auckland)
            #expect(try await site.messages(id, "p.time_zone = 'Asia/Tokyo'") == 30)
            #expect(try await site.messages(id, "p.time_zone = 'UTC'") == 30 - auckland)
            let row = try #require(try await site.store.plan(ofDelivery: id))
            #expect(row.unknownZones == unknown)
        }
    }

    @Test("Each zone has its moment; subscriptions without one have the service's")
    func moments() async throws {
        let site = try await site()
        try await site.sql(
            "DO $$ BEGIN PERFORM pushmta.set_service_hours('shop', '{\"time_zone\": \"Europe/Paris\"}'); END $$"
        )
        let id = try await site.edited("{}")
        try await site.sql(
            """
            DO $$ BEGIN PERFORM pushmta.set_local_time(\(id), (now() AT TIME ZONE 'UTC')::date + 2 + time '09:00', 'now'); END $$
            """
        )
        try await site.store.startDelivery(id)
        try await site.prepare()
        for zone in ["Asia/Tokyo", "America/New_York", "Europe/Paris"] {
            let due = "((now() AT TIME ZONE 'UTC')::date + 2 + time '09:00') AT TIME ZONE '\(zone)'"
            #expect(
                try await site.messages(id, "p.time_zone = '\(zone)' AND p.state = 'planned' AND p.not_before = \(due)")
                    == 30
            )
        }
        try await site.advance()
        #expect(try await site.messages(id, "p.state = 'ready'") == 0)
        let row = try required(try await site.store.plan(ofDelivery: id))
        #expect(row.plannedMessages == 90 && row.onPast == .now)
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("Where the moment has passed: now, next_day or skip", arguments: DeliveryPlan.PastRule.allCases)
    func passed(_ rule: DeliveryPlan.PastRule) async throws {
        let site = try await site()
        let id = try await site.edited("{}")
        // Yesterday has passed everywhere.
        try await site.sql(
            """
            DO $$ BEGIN PERFORM pushmta.set_local_time(\(id), (now() AT TIME ZONE 'UTC')::date - 2 + time '09:00', '\(rule.rawValue)');
            END $$
            """
        )
        try await site.store.startDelivery(id)
        try await site.prepare()
        switch rule {
        case .now:
            try await site.advance()
            #expect(try await site.send(id) == 90)
        case .nextDay:
            let isNext = "p.not_before BETWEEN now() - interval '1 minute' AND now() + interval '25 hours'"
            let isNine = "(p.not_before AT TIME ZONE p.time_zone)::time = time '09:00'"
            #expect(try await site.messages(id, "p.state = 'planned' AND \(isNext) AND \(isNine)") == 90)
        case .skip:
            #expect(try await site.messages(id, "p.state = 'done' AND p.rest_reason = 'local_time_over'") == 90)
            #expect(try await site.store.finishDeliveries() == [id])
            #expect(try await site.store.deliveryProgress(id).ignored == 90)
        }
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("A moment that passes during a long preparation has not passed at the start")
    func duringPreparation() async throws {
        let site = try await site()
        let id = try await site.edited("{}")
        try await site.sql(
            "DO $$ BEGIN PERFORM pushmta.set_local_time(\(id), (now() AT TIME ZONE 'UTC') - interval '1 minute', 'skip'); END $$"
        )
        try await site.sql("UPDATE pushmta_engine.subscription SET time_zone = 'UTC'")
        try await site.store.startDelivery(id)
        let job = try required(try await site.store.claimDeliveriesToPrepare(host: "a").first)
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET started_at = started_at - interval '5 minutes' WHERE id = \(id)"
        )
        while try await !site.store.prepareChunk(job, partSize: 20, partsPerChunk: 3).done {}
        try await site.advance()
        #expect(try await site.send(id) == 90)
    }

    @Test(
        "Outside of the hours messages wait for the next ones, or end",
        arguments: [SendingHours.Policy.postpone, .drop]
    )
    func outside(_ policy: SendingHours.Policy) async throws {
        let site = try await site()
        try await hours(site, "09:00", "18:00", policy.rawValue)
        let id = try await site.begun("{}")
        try await site.advance(at: tomorrow("03:00"))
        switch policy {
        case .postpone:
            let opens = tomorrow("09:00")
            #expect(try await site.messages(id, "p.state = 'planned' AND p.not_before = \(opens)") == 90)
            try await site.advance(at: tomorrow("08:59"))
            #expect(try await site.messages(id, "p.state = 'ready'") == 0)
            try await site.advance(at: opens)
            let closes = tomorrow("18:00")
            #expect(try await site.messages(id, "p.state = 'ready' AND p.closes_at = \(closes)") == 90)
            try await site.advance(at: closes)
            #expect(
                try await site.messages(id, "p.state = 'planned' AND p.not_before = \(opens) + interval '1 day'") == 90
            )
        case .drop:
            #expect(try await site.messages(id, "p.state = 'done' AND p.rest_reason = 'outside_hours'") == 90)
            #expect(try await site.store.finishDeliveries() == [id])
        }
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("A retry that is due at night waits for the morning, and its attempt counts")
    func retry() async throws {
        let site = try await site()
        try await hours(site, "00:00", "24:00")
        let id = try await site.begun("{}")
        try await site.advance()
        let part = try required(try await site.fixture.claim().first)
        #expect(part.closesAt != nil)
        let loaded = try await site.store.loadPart(part, MessageFields(names: []))
        var batch = OutcomeBatch()
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: part.fencingToken,
                retries: [RetrySet(sequences: loaded.sequences, delayMilliseconds: 0)]
            )
        ]
        _ = try await site.store.storeOutcomes(batch)
        let retries = "p.parent_part_id = \(part.id)"
        #expect(try await site.messages(id, "\(retries) AND p.state = 'planned' AND p.attempt = 2") == Int64(part.size))
        try await hours(site, "09:00", "18:00")
        try await site.advance(at: tomorrow("03:00"))
        #expect(
            try await site.messages(id, "\(retries) AND p.state = 'planned' AND p.not_before = \(tomorrow("09:00"))")
                == Int64(part.size)
        )
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("A part whose hours have ended cannot be claimed; one that its owner gives back waits for the morning")
    func closing() async throws {
        let site = try await site()
        try await hours(site, "00:00", "24:00")
        let id = try await site.begun("{}")
        try await site.advance()
        let part = try required(try await site.fixture.claim().first)
        try await site.sql("UPDATE pushmta_engine.delivery_part SET closes_at = now() WHERE state = 'ready'")
        #expect(try await site.fixture.claim().isEmpty)
        #expect(try await site.store.releasePart(PartToken(part: part.id, token: part.fencingToken)))
        #expect(
            try await site.messages(id, "p.id = \(part.id) AND p.state = 'planned' AND p.closes_at IS NULL")
                == Int64(part.size)
        )
        try await hours(site, "09:00", "18:00")
        try await site.advance(at: tomorrow("19:00"))
        #expect(
            try await site.messages(
                id,
                "p.state = 'planned' AND p.not_before = \(tomorrow("09:00")) + interval '1 day'"
            ) == 90
        )
    }

    @Test("A change of the hours counts for messages that wait for hours, and for ready ones")
    func changed() async throws {
        let site = try await site()
        try await hours(site, "00:00", "24:00")
        let id = try await site.begun("{}")
        try await site.advance()
        #expect(try await site.messages(id, "p.state = 'ready'") == 90)
        try await site.sql(
            """
            DO $$ BEGIN PERFORM pushmta.set_days_off('shop', ARRAY(SELECT (now() AT TIME ZONE 'UTC')::date + d
                FROM generate_series(-1, 1) d)); END $$
            """
        )
        #expect(try await site.messages(id, "p.state = 'ready'") == 0)
        try await site.advance()
        #expect(try await site.messages(id, "p.state = 'planned' AND p.not_before > now() + interval '1 day'") == 90)
        try await site.sql("DO $$ BEGIN PERFORM pushmta.set_days_off('shop', '{}'); END $$")
        try await site.advance()
        #expect(try await site.messages(id, "p.state = 'ready'") == 90)
    }

    @Test("One-time codes and continuous deliveries leave at any hour, unless the plan says otherwise")
    func exempt() async throws {
        let site = try await site()
        try await hours(site, "09:00", "18:00")
        let code = try await site.edited("{}")
        try await site.sql("UPDATE pushmta_engine.delivery SET one_time_code = true WHERE id = \(code)")
        try await site.store.startDelivery(code)
        try await site.prepare()
        #expect(try await site.messages(code, "p.state = 'ready'") == 90)
        let told = try await site.edited(#"{"hours": "drop"}"#)
        try await site.sql("UPDATE pushmta_engine.delivery SET one_time_code = true WHERE id = \(told)")
        try await site.store.startDelivery(told)
        try await site.prepare()
        #expect(try await site.messages(told, "p.state = 'planned'") == 90)
        let ignoring = try await site.begun(#"{"hours": "ignore"}"#)
        try await site.advance(at: tomorrow("03:00"))
        #expect(try await site.messages(ignoring, "p.state = 'ready'") == 90)
    }

    @Test("Messages of an explicit list keep their variables in whichever part they are")
    func variables() async throws {
        let site = try await site()
        let id = try await site.edited(#"{"waves": [{"percent": 30}, {}]}"#, explicit: true)
        try await site.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, subscription_id, variables)
            SELECT \(id), s.id, CASE WHEN s.id > 40 AND s.id % 2 = 0 THEN jsonb_build_object('n', s.id) END
            FROM pushmta_engine.subscription s
            """
        )
        try await site.store.startDelivery(id)
        try await site.prepare()
        let kept = try await site.sql(
            """
            SELECT count(*) FROM pushmta_engine.delivery_part p JOIN pushmta_engine.delivery_part_target t ON t.part_id = p.id
            CROSS JOIN LATERAL unnest(t.subscription_ids, t.target_ids) u(subscription_id, target_id)
            JOIN pushmta.delivery_target x ON x.id = u.target_id
            WHERE p.delivery_id = \(id) AND p.has_variables AND (x.variables ->> 'n')::bigint = u.subscription_id
            """
        )
        #expect(kept == 25)
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("A delivery that ends before the sending hours open is refused at its start")
    func tooShortForHours() async throws {
        let site = try await site()
        try await hours(site, "00:00", "24:00")
        let id = try await site.edited("{}")
        func close(_ days: Int) async throws {
            try await site.sql(
                """
                DO $$ BEGIN PERFORM pushmta.set_days_off('shop', ARRAY(SELECT (now() AT TIME ZONE 'UTC')::date + d
                    FROM generate_series(-1, \(days)) d)); END $$
                """
            )
        }
        for days in [7, 400] {
            try await close(days)
            let error = await #expect(throws: StoreError.self) { try await site.store.startDelivery(id) }
            #expect(error?.sqlState == "PM009" && error?.message.contains("sending hours of service \"shop\"") == true)
        }
        try await close(2)
        try await site.store.startDelivery(id)
        let ignoring = try await site.edited(#"{"hours": "ignore"}"#)
        try await close(400)
        try await site.store.startDelivery(ignoring)
    }

    @Test("Sending hours can be read and set again; hours that cannot be are refused")
    func service() async throws {
        let store = try await StoreFixture.make().store
        var hours = try await store.sendingHours(ofService: "shop")
        #expect(hours == SendingHours())
        hours.hours = [
            SendingHours.Line(weekdays: [1, 2, 3], opens: "09:00", closes: "18:00"),
            SendingHours.Line(weekdays: [6], opens: "22:00", closes: "24:00"),
        ]
        hours.daysOff = ["2028-02-29"]
        hours.outside = .drop
        hours.timeZone = "Europe/Berlin"
        try await store.setSendingHours(ofService: "shop", hours)
        #expect(try await store.sendingHours(ofService: "shop") == hours)
        #expect(try await store.timeZones().contains("Europe/Berlin"))
        await #expect(throws: StoreError.self) { try await store.sendingHours(ofService: "none") }
        let wrong: [SendingHours] = [
            hours.with { $0.timeZone = "Mars" }, hours.with { $0.daysOff = ["2027-02-29"] },
            hours.with { $0.hours[0].closes = "08:00" }, hours.with { $0.hours[0].weekdays = [8] },
            hours.with { $0.hours.append(SendingHours.Line(weekdays: [3], opens: "17:00", closes: "19:00")) },
        ]
        for hours in wrong {
            await #expect(throws: StoreError.self) { try await store.setSendingHours(ofService: "shop", hours) }
        }
        #expect(try await store.sendingHours(ofService: "shop") == hours)
    }
}

extension SendingHours {
    fileprivate func with(_ change: (inout SendingHours) -> Void) -> SendingHours {
        var copy = self
        change(&copy)
        return copy
    }
}
