import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Waves of a delivery")
struct WaveTests {
    private static let plan = #"{"waves": [{"count": 100}, {"percent": 29}, {}]}"#
    private static let small = #"{"waves": [{"count": 10}, {}]}"#

    @Test("Each wave has its number of messages, over several chunks; every message is in one of them")
    func sizes() async throws {
        let site = try await PlanFixture.make(1_000)
        let id = try await site.begun(Self.plan)
        let row = try required(try await site.store.plan(ofDelivery: id))
        #expect(row.waves.map(\.messages) == [100, 290, 610])
        #expect(row.waves.map(\.state) == [.open, .waiting, .waiting])
        #expect(row.plannedMessages == 1_000)
        #expect(row.waves.map(\.planned) == [100, 0, 0], "the others wait for their wave, not for their time")
        #expect(row.waves[0].lastAt != nil && row.waves[1].lastAt == nil)
        let distinct = try await site.sql(
            "SELECT count(DISTINCT sequence) FROM pushmta.message_status WHERE delivery_id = \(id)"
        )
        #expect(distinct == 1_000)
        #expect(try await site.fixture.assertEquation(id))
        #expect(try await site.fixture.claim().isEmpty, "a planned part cannot be claimed")
    }

    @Test("Messages without a time say whether they wait for a wave, the winner of an experiment, or both")
    func waits() async throws {
        let site = try await PlanFixture.make(100)
        func why(_ id: Int64) async throws -> String? {
            // Those that had a time have left.
            try await site.sql(
                "UPDATE pushmta_engine.delivery_part SET not_before = 'infinity' WHERE state = 'planned'"
            )
            return try await site.store.limits(of: .delivery(id)).first(where: { $0.limit == "plan" })?.why
        }
        #expect(try await why(try await site.begun(Self.small)) == "for a wave that has not begun")
        let id = try await site.edited("{}")
        try await site.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.set_experiment(\(id), '[{"percent": 10}, {"percent": 10}]',
                    decide_after => interval '1 hour');
            END $$
            """
        )
        try await site.store.startDelivery(id)
        try await site.prepare()
        #expect(try await why(id) == "for the winner of its experiment")
    }

    @Test("A wave of a fixed size gets all its messages where the last chunks of the target are nearly empty")
    func skewed() async throws {
        let site = try await PlanFixture.make(1_000)
        try await site.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id > 200 AND id % 50 <> 0")
        let id = try await site.begun(#"{"waves": [{"count": 100}, {"count": 50}, {}]}"#)
        let row = try required(try await site.store.plan(ofDelivery: id))
        #expect(row.waves.map(\.messages) == [100, 50, 66])
        for wave in row.waves {
            #expect(try await site.messages(id, "p.wave = \(wave.number)") == wave.messages)
        }
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("A wave that gets messages of later ones gets as many of each variant of an experiment")
    func skewedVariants() async throws {
        let site = try await PlanFixture.make(1_000)
        try await site.sql("UPDATE pushmta_engine.subscription SET opted_out = true WHERE id > 200 AND id % 50 <> 0")
        let id = try await site.edited("{}")
        try await site.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.set_experiment(\(id), '[{"percent": 50}, {"percent": 50}]');
                PERFORM pushmta.set_plan(\(id), '{"waves": [{"count": 100}, {}]}');
            END $$
            """
        )
        // Who is in which variant does not change from run to run.
        try await site.sql("UPDATE pushmta_engine.experiment SET seed = 1")
        try await site.store.startDelivery(id)
        try await site.prepare()
        let first = try await site.messages(id, "p.wave = 1 AND p.cell = 1")
        #expect(try await site.messages(id, "p.wave = 1") == 100)
        // All 216 people are divided by chance, and so are those that the wave had at first.
        let expected = Double(try await site.messages(id, "p.cell = 1")) * 100 / 216
        #expect(abs(Double(first) - expected) < 20, "\(first) messages of the first variant, not about \(expected)")
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("An application without subscribers does not change whom a wave of a fixed size reaches")
    func emptyApplication() async throws {
        let site = try await PlanFixture.make(1_000)
        let id = try await site.edited(
            #"{"waves": [{"count": 100}, {}]}"#,
            applications: ["shop-ios", "shop-android"]
        )
        try await site.store.startDelivery(id)
        try await site.prepare()
        #expect(try await site.messages(id, "p.wave = 1") == 100)
        let late = try await site.sql(
            """
            SELECT count(*) FROM pushmta_engine.delivery_part p JOIN pushmta_engine.delivery_part_target t ON t.part_id = p.id
            CROSS JOIN LATERAL unnest(t.subscription_ids) u(id) WHERE p.delivery_id = \(id) AND p.wave = 1 AND u.id > 480
            """
        )
        #expect(try required(late) >= 30, "every chunk gives its share")
    }

    @Test("A wave begins when the one before was tried and its pause is over")
    func order() async throws {
        let site = try await PlanFixture.make(300)
        let id = try await site.begun(#"{"waves": [{"count": 50}, {"count": 100, "after": "1 hour"}, {}]}"#)
        try await site.advance()
        #expect(try await site.messages(id, "p.state = 'ready' AND p.wave = 1") == 50)
        try await site.advance(at: "now() + interval '2 hours'")
        #expect(try await site.messages(id, "p.state = 'ready'") == 50, "the first wave was not tried")
        #expect(try await site.send(id) == 50)
        try await site.advance(at: "now() + interval '50 minutes'")
        #expect(try await site.messages(id, "p.state = 'ready'") == 0)
        try await site.sql(
            "UPDATE pushmta_engine.delivery_wave SET opened_at = opened_at - interval '2 hours' WHERE number = 1"
        )
        try await site.advance()
        #expect(try await site.messages(id, "p.state = 'ready' AND p.wave = 2") == 100)
        #expect(try await site.send(id) == 100)
        try await site.advance()
        #expect(try await site.send(id) == 150)
        #expect(try await site.store.finishDeliveries() == [id])
        #expect(try await site.fixture.assertEquation(id))
    }

    /// The number of deliveries that a look finds, and does not find again at once.
    private func look(_ site: PlanFixture, at moment: String = "now()", most: Int = 100) async throws -> Int64? {
        try await site.sql("SELECT pushmta_engine.advance_waves(\(moment), \(most))::bigint")
    }

    private static let isLookedAt =
        "EXISTS (SELECT FROM pushmta_engine.delivery_plan p WHERE p.delivery_id = d.id AND p.look_at"

    @Test("Waves are looked at only when one can begin, and never those of a delivery that is paused or has ended")
    func looks() async throws {
        let site = try await PlanFixture.make(100)
        let id = try await site.begun(#"{"waves": [{"count": 10}, {"after": "30 minutes"}]}"#)
        #expect(try await look(site) == 1)
        #expect(try await look(site) == 0)
        #expect(try await look(site, at: "now() + interval '25 minutes'") == 0)
        #expect(try await look(site, at: "now() + interval '31 minutes'") == 1)
        let nextLook = "BETWEEN now() + interval '31 minutes' AND now() + interval '33 minutes')"
        #expect(try await site.delivery(id, "\(Self.isLookedAt) \(nextLook)"), "the first wave was not tried")
        // The clock is set back.
        #expect(try await look(site, at: "now() - interval '1 day'") == 1)
        try await site.store.pauseDelivery(id)
        #expect(try await site.delivery(id, "\(Self.isLookedAt) IS NULL)"))
        try await site.store.resumeDelivery(id)
        #expect(try await site.delivery(id, "\(Self.isLookedAt) <= now())"))
        try await site.store.stopDelivery(id)
        #expect(try await site.delivery(id, "\(Self.isLookedAt) IS NULL)"))
        #expect(try await look(site) == 0)
    }

    @Test("A look takes some deliveries, the next one others, and none waits for a session that holds one")
    func crowd() async throws {
        let site = try await PlanFixture.make(20)
        var ids: [Int64] = []
        for _ in 0..<5 { ids.append(try await site.begun(#"{"waves": [{"count": 10}, {"at": "tomorrow"}]}"#)) }
        let holder = try await site.fixture.hold(
            "SELECT FROM pushmta_engine.delivery WHERE id IN (\(ids[0]), \(ids[1])) FOR UPDATE"
        )
        #expect(try await look(site, most: 2) == 2)
        #expect(try await look(site, most: 2) == 2)
        #expect(try await look(site, most: 2) == 1)
        #expect(try await look(site, most: 2) == 0)
        try await holder.run(script: "ROLLBACK")
        await holder.close()
    }

    @Test("A delivery whose wave cannot begin is paused with the reason, and the waves of others begin")
    func broken() async throws {
        let site = try await PlanFixture.make(20)
        let broken = try await site.begun(#"{"waves": [{"count": 10}, {"after": "1 hour"}]}"#)
        let other = try await site.begun(#"{"waves": [{"count": 10}, {}]}"#)
        try await site.advance()
        try await site.send(broken)
        // No timestamp is so late.
        try await site.sql(
            "ALTER TABLE pushmta_engine.delivery_wave DROP CONSTRAINT delivery_wave_starts_after_check"
        )
        try await site.sql(
            """
            UPDATE pushmta_engine.delivery_wave SET starts_after = '293000 years'
            WHERE delivery_id = \(broken) AND number = 2
            """
        )
        try await site.advance()
        let reason = "d.state_reason LIKE 'Its next wave could not begin: %'"
        #expect(try await site.delivery(broken, "d.state = 'paused' AND \(reason)"))
        try await site.advance()
        #expect(try await site.store.plan(ofDelivery: other)?.waves.map(\.state) == [.passed, .open])
    }

    @Test("A wave with a moment waits for it")
    func calendar() async throws {
        let site = try await PlanFixture.make(100)
        let id = try await site.begun(#"{"waves": [{"count": 10}, {"at": "tomorrow"}]}"#)
        try await site.advance()
        #expect(try await site.send(id) == 10)
        try await site.advance()
        #expect(try await site.messages(id, "p.state = 'ready'") == 0)
        try await site.sql("UPDATE pushmta_engine.delivery_wave SET starts_at = now() WHERE number = 2")
        try await site.advance()
        #expect(try await site.send(id) == 90)
    }

    @Test("A wave that did not keep to its guard pauses the delivery, which says why; resuming it goes on")
    func guards() async throws {
        let site = try await PlanFixture.make(300)
        let id = try await site.begun(#"{"waves": [{"count": 100, "max_failed": 0.1}, {}]}"#)
        try await site.advance()
        try await site.send(id, failures: 1)
        try await site.advance()
        #expect(
            try await site.delivery(id, "d.state = 'paused' AND d.state_reason LIKE 'Wave 1 did not keep%have failed%'")
        )
        #expect(try await site.store.plan(ofDelivery: id)?.waves.first?.state == .held)
        #expect(try await site.fixture.alarms("delivery_paused").count == 1)
        #expect(try await site.messages(id, "p.state = 'waiting'") == 200)
        try await site.store.resumeDelivery(id)
        #expect(try await site.messages(id, "p.state = 'planned'") == 200)
        try await site.advance()
        let waves = try required(try await site.store.plan(ofDelivery: id)).waves
        #expect(waves.map(\.state) == [.passed, .open])
        #expect(waves[0].heldAt != nil && waves[1].heldAt == nil, "it passed because it was resumed")
        #expect(try await site.send(id) == 200)
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("The first wave has a guard against bad push tokens by default; fewer than ten prove nothing")
    func tokenErrors() async throws {
        let site = try await PlanFixture.make(100)
        let id = try await site.begun(#"{"waves": [{"count": 40}, {}]}"#)
        try await site.advance()
        try await site.send(id)
        // A token that has never worked is not called dead after one refusal, but it counts.
        func report(_ count: Int, _ kind: String = "invalid") async throws {
            try await site.sql(
                """
                INSERT INTO pushmta_engine.token_event (delivery_id, application_id, subscription_id, kind)
                SELECT \(id), s.application_id, s.id, '\(kind)' FROM pushmta_engine.subscription s ORDER BY s.id LIMIT \(count)
                """
            )
        }
        try await report(9)
        #expect(try await site.sql("SELECT count(pushmta_engine.guard_breach(\(id), 1::smallint))") == 0)
        try await report(1, "soft_error")
        #expect(try await site.sql("SELECT sum(token_errors)::bigint FROM pushmta.delivery_wave") == 10)
        try await site.advance()
        #expect(try await site.delivery(id, "d.state = 'paused' AND d.state_reason LIKE '%had a bad push token%'"))
    }

    @Test("Opt-outs of recipients of the wave count, those of others do not")
    func optOuts() async throws {
        let site = try await PlanFixture.make(200)
        let id = try await site.begun(#"{"waves": [{"count": 100, "max_opt_outs": 0.15}, {}]}"#)
        try await site.advance()
        try await site.send(id)
        func leave(_ wave: Int, _ count: Int) async throws {
            try await site.sql(
                """
                UPDATE pushmta_engine.subscription s SET opted_out = true, opted_out_at = now() WHERE s.id IN (
                    SELECT u.id FROM pushmta_engine.delivery_part p JOIN pushmta_engine.delivery_part_target t ON t.part_id = p.id
                    CROSS JOIN LATERAL unnest(t.subscription_ids) u(id)
                    WHERE p.delivery_id = \(id) AND p.wave = \(wave) ORDER BY u.id LIMIT \(count))
                """
            )
        }
        try await leave(2, 50)
        #expect(try await site.sql("SELECT count(pushmta_engine.guard_breach(\(id), 1::smallint))") == 0)
        try await leave(1, 16)
        try await site.advance()
        #expect(try await site.delivery(id, "d.state = 'paused' AND d.state_reason LIKE '%followed by an opt-out%'"))
    }

    @Test("Opt-outs from the delivery's category count; those from others, earlier ones and inherited ones do not")
    func categoryOptOuts() async throws {
        let site = try await PlanFixture.make(200)
        let id = try await site.begun(#"{"waves": [{"count": 100, "max_opt_outs": 0.15}, {}]}"#)
        try await site.advance()
        try await site.send(id)
        func leave(_ count: Int, _ category: String, source: String = "app", since: String = "now()") async throws {
            try await site.sql(
                """
                INSERT INTO pushmta_engine.category_opt_out (category_id, subscription_id, source, since)
                SELECT k.id, s.id, '\(source)', \(since) FROM pushmta_engine.category k CROSS JOIN (
                    SELECT u.id FROM pushmta_engine.delivery_part p JOIN pushmta_engine.delivery_part_target t ON t.part_id = p.id
                    CROSS JOIN LATERAL unnest(t.subscription_ids) u(id)
                    WHERE p.delivery_id = \(id) AND p.wave = 1 ORDER BY u.id LIMIT \(count)) s
                WHERE k.name = '\(category)'
                ON CONFLICT (category_id, subscription_id) DO UPDATE SET source = excluded.source, since = excluded.since
                """
            )
        }
        let breaches = "SELECT count(pushmta_engine.guard_breach(\(id), 1::smallint))"
        try await leave(50, "news")
        try await leave(50, "marketing", source: "kept")
        #expect(try await site.sql(breaches) == 0)
        try await leave(50, "marketing", since: "now() - interval '1 hour'")
        #expect(try await site.sql(breaches) == 0)
        try await leave(15, "marketing")
        #expect(try await site.sql(breaches) == 0)
        try await leave(16, "marketing", source: "user")
        try await site.advance()
        #expect(
            try await site.delivery(
                id,
                "d.state = 'paused' AND d.state_reason LIKE '%16 of 100 messages were followed by an opt-out%'"
            )
        )
    }

    @Test("A pause holds planned messages back, a stop cancels them, the end of the validity ends them")
    func endings() async throws {
        let site = try await PlanFixture.make(100)
        let paused = try await site.begun(Self.small)
        try await site.store.pauseDelivery(paused)
        #expect(try await site.messages(paused, "p.state = 'waiting'") == 100)
        try await site.advance()
        #expect(try await site.messages(paused, "p.state = 'waiting'") == 100)
        try await site.store.stopDelivery(paused)
        #expect(try await site.messages(paused, "p.state = 'done' AND p.rest_status = 7") == 100)
        #expect(try await site.fixture.assertEquation(paused))
        let expired = try await site.begun(Self.small)
        try await site.sql("UPDATE pushmta_engine.delivery SET valid_until = now() WHERE id = \(expired)")
        _ = try await site.store.finishRest()
        #expect(try await site.messages(expired, "p.state = 'done' AND p.rest_reason = 'expired'") == 100)
        #expect(try await site.store.finishDeliveries().contains(expired))
        #expect(try await site.fixture.assertEquation(expired))
    }

    @Test("An analysis counts messages by wave, and its start lets the first wave go")
    func analysed() async throws {
        let site = try await PlanFixture.make(500)
        let id = try await site.edited(#"{"waves": [{"percent": 10}, {}]}"#)
        try await site.store.analyzeDelivery(id)
        try await site.prepare()
        let counts = try await site.store.counts(ofDelivery: id)
        let sums = counts.sums(by: \.waveName)
        #expect(sums.map(\.name) == ["2", "1"] && sums.map(\.messages) == [450, 50])
        #expect(try await site.messages(id, "p.state = 'held'") == 500)
        try await site.store.startDelivery(id)
        try await site.prepare()
        try await site.advance()
        #expect(try await site.messages(id, "p.state = 'ready'") == 50)
        #expect(try await site.messages(id, "p.state = 'planned' AND p.wave = 2") == 450)
        #expect(try await site.delivery(id, "d.state = 'in_progress'"))
        #expect(try await site.fixture.assertEquation(id))
    }

    @Test("A change of the plan drops an analysis; a copy has the plan; a delivery that has begun keeps it")
    func changes() async throws {
        let site = try await PlanFixture.make(50)
        let id = try await site.edited(#"{"waves": [{"percent": 10, "max_failed": 0.02}, {"after": "90 minutes"}]}"#)
        try await site.store.analyzeDelivery(id)
        try await site.prepare()
        let row = try required(try await site.store.plan(ofDelivery: id))
        #expect(row.waves[0].percent == 10 && row.waves[0].maxFailed == 0.02 && row.waves[1].afterSeconds == 5_400)
        try await site.store.setPlan(ofDelivery: id, row.plan)
        #expect(try await site.delivery(id, "d.state = 'editing' AND d.frozen_until IS NULL"))
        #expect(try await site.store.plan(ofDelivery: id)?.plan == row.plan, "what was read can be set")
        let copy = try await site.store.copyDelivery(id)
        #expect(try await site.store.plan(ofDelivery: copy)?.plan == row.plan)
        try await site.store.setPlan(ofDelivery: copy, DeliveryPlan())
        #expect(try await site.store.plan(ofDelivery: copy) == nil)
        try await site.store.startDelivery(id)
        try await site.prepare()
        await #expect(throws: StoreError.self) { try await site.store.setPlan(ofDelivery: id, DeliveryPlan()) }
    }

    @Test(
        "A plan that cannot be is refused",
        arguments: [
            #"{"waves": [{"count": 1}]}"#, #"{"waves": [{}, {}]}"#,
            #"{"waves": [{"percent": 60}, {"percent": 41}, {}]}"#,
            #"{"waves": [{"count": 1, "after": "1 hour"}, {}]}"#, #"{"waves": [{"count": 1.5}, {}]}"#,
            #"{"waves": [{"count": 1}, {"after": "soon"}]}"#, #"{"waves": [{"count": 1}, {"at": "infinity"}]}"#,
            #"{"waves": [{"count": 1}, {"after": "300000 years -107999999 days"}]}"#,
            #"{"waves": [{"count": 1}, {"after": "367 days"}]}"#, #"{"waves": [{"count": 1}, {"at": "3000-01-01"}]}"#,
            #"{"local_time": "3000-01-01 09:00", "on_past": "now"}"#,
            #"{"waves": [{"count": 1, "max_failed": 2}, {}]}"#, #"{"waves": [{"count": 1}, {"size": 2}]}"#,
            #"{"local_time": "2030-01-01 09:00"}"#, #"{"local_time": "soon", "on_past": "now"}"#,
            #"{"local_time": "infinity", "on_past": "now"}"#, #"{"hours": "never"}"#, #"{"zone": "UTC"}"#, "[]",
        ]
    )
    func refused(_ plan: String) async throws {
        let site = try await PlanFixture.make(0)
        let id = try await site.edited("{}")
        let refused = try await site.sql(
            """
            DO $$ BEGIN
                PERFORM pushmta.set_plan(\(id), '\(plan)');
                RAISE EXCEPTION 'it was accepted';
            EXCEPTION WHEN SQLSTATE 'PM007' THEN NULL;
            END $$
            """
        )
        #expect(refused == nil)
    }

    @Test("A plan that does not fit into the validity is refused at the start, and when the start is moved")
    func validity() async throws {
        let site = try await PlanFixture.make(10)
        let id = try await site.edited(
            #"{"waves": [{"count": 1}, {"count": 1, "after": "3 days"}, {"after": "3 days"}]}"#
        )
        await #expect(throws: StoreError.self) { try await site.store.startDelivery(id) }
        try await site.sql("UPDATE pushmta_engine.delivery SET validity = interval '7 days' WHERE id = \(id)")
        try await site.store.startDelivery(id)
    }

    @Test(
        "With next_day, what is past leaves within a day after the start, and a day later with each further wave",
        arguments: [
            ("[]", 23, 24), (#"[{"percent": 10}, {}]"#, 47, 48), (#"[{"percent": 10}, {"after": "30 hours"}]"#, 53, 54),
        ]
    )
    func nextDay(_ waves: String, tooShort: Int, enough: Int) async throws {
        let site = try await PlanFixture.make(10)
        let id = try await site.edited("{}")
        try await site.sql(
            "DO $$ BEGIN PERFORM pushmta.set_waves(\(id), nullif('\(waves)'::jsonb, '[]')); END $$"
        )
        try await site.sql(
            """
            DO $$ BEGIN PERFORM pushmta.set_local_time(\(id), (now() AT TIME ZONE 'UTC') - interval '1 day', 'next_day'); END $$
            """
        )
        try await site.sql(
            "UPDATE pushmta_engine.delivery SET validity = interval '\(tooShort) hours' WHERE id = \(id)"
        )
        let error = await #expect(throws: StoreError.self) { try await site.store.startDelivery(id) }
        #expect(error?.sqlState == "PM009" && error?.message.contains("waits for the next day") == true)
        try await site.sql("UPDATE pushmta_engine.delivery SET validity = interval '\(enough) hours' WHERE id = \(id)")
        try await site.store.startDelivery(id)
        // Who moves its waves or its end later on is told, too.
        await #expect(throws: (any Error).self) {
            try await site.sql(
                "DO $$ BEGIN PERFORM pushmta.update_delivery(\(id), validity => interval '\(tooShort) hours'); END $$"
            )
        }
    }

    @Test("A whole plan is checked at once: what it says before does not count")
    func replaced() async throws {
        let site = try await PlanFixture.make(10)
        let id = try await site.edited(#"{"waves": [{"percent": 10}, {"after": "100 hours"}]}"#)
        try await site.store.startDelivery(id)
        // With the old waves, this time would be too late.
        try await site.sql(
            """
            DO $$ BEGIN PERFORM pushmta.set_plan(\(id), jsonb_build_object('local_time',
                to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), 'on_past', 'next_day')); END $$
            """
        )
        #expect(try await site.store.plan(ofDelivery: id)?.onPast == .nextDay)
    }
}
