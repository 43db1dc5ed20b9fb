import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Data of deliveries is deleted with their logs")
struct DeliveryRetentionTests {
    private let worker = StoreFixture.worker
    private static let past = "(now() AT TIME ZONE 'UTC')::date - 200"

    private func purge(_ fixture: StoreFixture, limit: Int = 100_000, days: Int = 180) async throws -> Int64 {
        try required(try await fixture.store.purgeDeliveryRows(worker: worker, limit: limit, days: days))
    }

    private func count(_ fixture: StoreFixture, _ table: String) async throws -> Int64 {
        try await fixture.sql("SELECT count(*) FROM \(table)") ?? -1
    }

    /// A delivery of 25 targets in parts of ten, with exclusions: the first part sent and failed, the second expired, the third handed over
    /// to a retry part, which was sent by an owner that was lost; 200 days ago.
    private func ended() async throws -> (StoreFixture, Int64) {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat())
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 25)
        let id = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, user_key, variables)
            SELECT \(id), user_key, '{"order": "secret"}' FROM pushmta_engine.subscription
            """
        )
        try await fixture.sql("INSERT INTO pushmta.delivery_exclusion (delivery_id, user_key) VALUES (\(id), 'nobody')")
        try await fixture.store.startDelivery(id)
        try await fixture.prepare(partSize: 10)
        let connection = try await fixture.database.connect()
        try await connection.run(
            script: """
                WITH p AS (SELECT id, row_number() OVER (ORDER BY id) AS n FROM pushmta_engine.delivery_part)
                UPDATE pushmta_engine.delivery_part d SET state = 'done', counted = true, finished_at = now(),
                    sent = CASE p.n WHEN 1 THEN 8 WHEN 3 THEN 2 ELSE 0 END, failed = CASE p.n WHEN 1 THEN 2 ELSE 0 END,
                    rest_status = CASE p.n WHEN 2 THEN 0 END, handed_over = CASE p.n WHEN 3 THEN 3 ELSE 0 END, late_outcomes = p.n
                FROM p WHERE p.id = d.id;
                INSERT INTO pushmta_engine.delivery_part (delivery_id, parent_part_id, application_id, external_account_id, log_day, size,
                    sent, state, counted, finished_at)
                SELECT delivery_id, id, application_id, external_account_id, log_day, 3, 3, 'done', true, now()
                FROM pushmta_engine.delivery_part WHERE handed_over = 3;
                INSERT INTO pushmta_engine.delivery_sum (delivery_id, parts, made, sent, failed, ignored, late_outcomes)
                SELECT s.delivery_id, sum(s.parts), sum(s.made), sum(s.sent), sum(s.failed), sum(s.ignored), sum(s.late_outcomes)
                FROM pushmta_engine.delivery_part p CROSS JOIN LATERAL pushmta_engine.part_sum(p) s GROUP BY 1;
                INSERT INTO pushmta_engine.delivery_part_recovery (part_id, fencing_token, ambiguous)
                SELECT id, 1, '{21}' FROM pushmta_engine.delivery_part;
                UPDATE pushmta_engine.delivery SET state = 'finished', finished_at = now(), log_day = \(Self.past);
                UPDATE pushmta_engine.delivery_part SET log_day = \(Self.past);
                """
        )
        await connection.close()
        return (fixture, id)
    }

    @Test("Targets, exclusions, parts and records of lost owners are deleted in bounded steps; the counts stay")
    func goes() async throws {
        let (fixture, id) = try await ended()
        let before = try await fixture.store.deliveryProgress(id)
        #expect(before.sent == 13 && before.failed == 2 && before.ignored == 10 && before.target == 25)
        var rounds = 0
        while try await purge(fixture, limit: 10) > 0 { rounds += 1 }
        #expect(rounds >= 3)
        for table in ["pushmta.delivery_target", "pushmta.delivery_exclusion", "pushmta_engine.delivery_part_recovery"]
        {
            #expect(try await count(fixture, table) == 0, "\(table)")
        }
        #expect(try await count(fixture, "pushmta_engine.delivery_part") == 1)
        let after = try await fixture.store.deliveryProgress(id)
        #expect(
            after.sent == 13 && after.failed == 2 && after.ignored == 10 && after.target == 25 && after.pending == 0
        )
        #expect(after.lateOutcomes == before.lateOutcomes)
        #expect(try await fixture.sql("SELECT n FROM pushmta.retention_log WHERE what = 'delivery targets'") == 25)
        // Another day of the same application is not affected, and nothing is examined twice.
        #expect(try await purge(fixture) == 0)
    }

    @Test("Its plan and the results of its waves stay")
    func waves() async throws {
        let (fixture, id) = try await ended()
        try await fixture.sql("INSERT INTO pushmta_engine.delivery_plan (delivery_id, hours) VALUES (\(id), 'ignore')")
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.delivery_wave (delivery_id, number, size, messages, opened_at)
            VALUES (\(id), 1, 10, 10, now()), (\(id), 2, NULL, 15, now())
            """
        )
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET wave = CASE sent WHEN 8 THEN 1 ELSE 2 END")
        let before = try required(try await fixture.store.plan(ofDelivery: id))
        #expect(before.waves.map(\.sent) == [8, 5] && before.waves.map(\.failed) == [2, 0])
        while try await purge(fixture, limit: 3) > 0 {}
        #expect(try await count(fixture, "pushmta_engine.delivery_part") == 1)
        let after = try required(try await fixture.store.plan(ofDelivery: id))
        #expect(after.waves == before.waves && after.hours == .ignore)
    }

    @Test("Old targets of a delivery that was never started are deleted, its other targets stay")
    func drafts() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat())
        let id = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, user_key, created_at)
            SELECT \(id), 'user-' || n, now() - make_interval(days => n * 50) FROM generate_series(0, 9) n
            """
        )
        // Targets that are 200 to 450 days old.
        #expect(try await purge(fixture, limit: 4) == 4)
        #expect(try await purge(fixture) == 2)
        #expect(try await count(fixture, "pushmta.delivery_target") == 4)
        #expect(try await purge(fixture) == 0)
        #expect(try await fixture.store.deliveryProgress(id).state == .editing)
    }

    @Test("Old targets of a recall that has not begun hold up no others; only the retention deletes them")
    func recalls() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat())
        let (child, other) = (
            try await fixture.startedDelivery(explicit: true), try await fixture.startedDelivery(explicit: true)
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, user_key, created_at)
            SELECT d.id, 'user-' || n, now() - interval '200 days' FROM pushmta_engine.delivery d, generate_series(1, 3) n
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.recall (delivery_id, mode, reason, kind, name, child_id)
            VALUES (\(other), 'remove', 'r', 'login', 'a', \(child))
            """
        )
        let refused = await #expect(throws: PostgresError.self) {
            try await fixture.sql("DELETE FROM pushmta.delivery_target WHERE delivery_id = \(child)")
        }
        #expect(refused?.sqlState == "PM185")
        #expect(try await purge(fixture) == 6)
        #expect(try await count(fixture, "pushmta.delivery_target") == 0)
    }

    @Test(
        "Nothing is deleted of a day whose outcomes are kept, or of an unfinished or uncounted delivery",
        arguments: [
            "SELECT pushmta_engine.ensure_partitions(d, d) FROM (SELECT \(past) AS d) x",
            "UPDATE pushmta_engine.delivery SET state = 'paused', finished_at = NULL",
            "UPDATE pushmta_engine.delivery SET state = 'stopped', finished_at = NULL",
            "UPDATE pushmta_engine.delivery_part SET state = 'ready', rest_status = NULL",
            "UPDATE pushmta_engine.delivery_part SET counted = false",
            "UPDATE pushmta_engine.delivery SET log_day = (now() AT TIME ZONE 'UTC')::date - 10",
        ]
    )
    func stays(script: String) async throws {
        let (fixture, _) = try await ended()
        try await fixture.sql(script)
        #expect(try await purge(fixture) == 0)
        #expect(try await count(fixture, "pushmta.delivery_target") == 25)
        #expect(try await count(fixture, "pushmta_engine.delivery_part") == 4)
    }

    @Test("The numbers of its messages are deleted with it, and later deliveries do not reuse them")
    func numbers() async throws {
        let (fixture, id) = try await ended()
        try await fixture.sql("SELECT NULL::bigint FROM pushmta_engine.take_message_ids(\(id), 25)")
        while try await purge(fixture) > 0 {}
        #expect(try await count(fixture, "pushmta_engine.message_id_range") == 0)
        let next = try await fixture.startedDelivery()
        try await fixture.sql("SELECT NULL::bigint FROM pushmta_engine.take_message_ids(\(next), 10001)")
        #expect(
            try await fixture.sql(
                "SELECT last_id - first_id FROM pushmta_engine.message_id_range WHERE first_id = 10001"
            )
                == 19_999
        )
    }

    @Test(
        "A role that may delete targets can do so before the start and after the end of their delivery, but not in between"
    )
    func marketing() async throws {
        let (fixture, id) = try await ended()
        let connection = try await fixture.database.connect()
        let delete = """
            SET pushmta.forgetting = 'on';
            SELECT pushmta.remove_targets(\(id), ARRAY(SELECT t.id FROM pushmta.delivery_target t WHERE t.user_key = 'shop-ios-1'))
            """
        for state in ["in_progress", "paused", "preparing", "pending"] {
            try await fixture.sql("UPDATE pushmta_engine.delivery SET state = '\(state)', finished_at = NULL")
            await #expect {
                try await connection.run(script: "SET ROLE pushmta_marketing; \(delete)")
            } throws: {
                ($0 as? PostgresError)?.sqlState == "PM006"
            }
        }
        // Stopped, but not all of its messages have an outcome.
        try await fixture.sql("UPDATE pushmta_engine.delivery SET state = 'stopped'")
        await #expect(throws: PostgresError.self) { try await connection.run(script: delete) }
        try await fixture.sql("UPDATE pushmta_engine.delivery SET finished_at = now()")
        try await connection.run(script: "SET ROLE pushmta_marketing; \(delete)")
        await #expect(throws: PostgresError.self) {
            try await connection.run(
                script: "UPDATE pushmta.delivery_target SET user_key = 'x' WHERE delivery_id = \(id)"
            )
        }
        await connection.close()
        #expect(try await count(fixture, "pushmta.delivery_target") == 24)
    }

    @Test("Children that ended long ago are deleted, and so are hosts without children, but not an owner of a part")
    func children() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart()
        #expect(try await fixture.heartbeat())
        let holder = try required(
            try await fixture.sql("SELECT owner FROM pushmta_engine.delivery_part WHERE id = \(part.id)")
        )
        for _ in 0..<5 { _ = try await fixture.child() }
        try await fixture.sql(
            """
            UPDATE pushmta_engine.mta_child SET exited_at = now() - interval '181 days' WHERE id < \(holder) + 3
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.mta_host (id, name, pid, version, schema_version, state, journal_folder, last_heartbeat)
            SELECT gen_random_uuid(), 'old', 1, '1', 1, 'stopped', '/', now() - interval '181 days'
            """
        )
        #expect(try await fixture.store.purgeChildren(worker: worker, limit: 1, days: 180) ?? -1 <= 1)
        while try await fixture.store.purgeChildren(worker: worker, limit: 100, days: 180) ?? 0 > 0 {}
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.mta_child WHERE id = \(holder)") == 1,
            "it holds a part"
        )
        #expect(try await count(fixture, "pushmta_engine.mta_child") == 4)
        #expect(try await count(fixture, "pushmta_engine.mta_host") == 1)
        // A clock that jumps by a year makes all of them old at once.
        try await fixture.sql("UPDATE pushmta_engine.mta_child SET exited_at = now() - interval '1 year'")
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET state = 'ready', owner = NULL")
        #expect(try await fixture.store.purgeChildren(worker: worker, limit: 100, days: 180) == 0)
        #expect(try await fixture.alarms("retention_held").map(\.subject) == ["children and hosts"])
    }
}
