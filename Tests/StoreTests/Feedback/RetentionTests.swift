import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Deletion of old data")
struct RetentionTests {
    private let worker = StoreFixture.worker

    private func drop(_ fixture: StoreFixture, _ table: PartitionedTable = .broadLog, days: Int = 180) async throws
        -> String?
    {
        try await fixture.store.dropOldPartition(worker: worker, of: table, days: days)
    }

    private func aged() async throws -> StoreFixture {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            SELECT pushmta_engine.ensure_partitions(d, d + 1) FROM (SELECT (now() AT TIME ZONE 'UTC')::date - 200 AS d) x
            """
        )
        #expect(try await fixture.heartbeat())
        return fixture
    }

    /// A recalled delivery of three messages, 200 days ago; devices removed two of them.
    private func recalled() async throws -> StoreFixture {
        let fixture = try await aged()
        let id = try await fixture.startedDelivery()
        let day = "(now() AT TIME ZONE 'UTC')::date - 200"
        let statements = [
            "UPDATE pushmta_engine.delivery SET state = 'recalled', finished_at = now(), log_day = \(day)",
            "INSERT INTO pushmta_engine.recall (delivery_id, mode, reason, kind, name) VALUES (\(id), 'remove', 'r', 'login', 'a')",
            """
            INSERT INTO pushmta_engine.broad_log (delivery_id, sequence, log_day, status, subscription_id, part_id, attempt)
            SELECT \(id), n, \(day), 1, n, 1, 1 FROM generate_series(1, 3) n
            """,
            """
            INSERT INTO pushmta_engine.tracking_log (delivery_id, sequence, log_day, kind, first)
            SELECT \(id), n, \(day), 3, true FROM generate_series(1, 2) n
            """,
        ]
        for statement in statements { try await fixture.sql(statement) }
        try await count(fixture)
        return fixture
    }

    /// A day whose receipts are not counted yet is not dropped.
    private func count(_ fixture: StoreFixture) async throws {
        try await fixture.sql("DELETE FROM pushmta_engine.tracking_uncounted")
    }

    @Test(
        "How many messages of a recalled delivery were removed is kept when its logs are dropped",
        arguments: [PartitionedTable.trackingLog, .broadLog]
    )
    func removed(first: PartitionedTable) async throws {
        let fixture = try await recalled()
        let removed = "SELECT removed FROM pushmta.recall_report"
        #expect(try await fixture.sql(removed) == 2)
        for table in [first] + PartitionedTable.allCases {
            while let name = try await drop(fixture, table), !name.isEmpty {}
            #expect(try await fixture.sql(removed) == 2, "\(table)")
        }
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.broad_log") == 0)
    }

    @Test(
        "Confirmations count until the logs that say so are dropped, even if others of their day have gone",
        arguments: [PartitionedTable.exclusionLog, .partTarget]
    )
    func removedLater(first: PartitionedTable) async throws {
        let fixture = try await recalled()
        while let name = try await drop(fixture, first), !name.isEmpty {}
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.tracking_log (delivery_id, sequence, log_day, kind, first)
            SELECT d.id, 3, d.log_day, 3, true FROM pushmta_engine.delivery d
            """
        )
        try await count(fixture)
        let removed = "SELECT removed FROM pushmta.recall_report"
        #expect(try await fixture.sql(removed) == 3)
        for table in PartitionedTable.allCases {
            while let name = try await drop(fixture, table), !name.isEmpty {}
            #expect(try await fixture.sql(removed) == 3, "\(table)")
        }
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.broad_log") == 0)
    }

    @Test("Old partitions are dropped one by one, oldest first, and reported")
    func partitions() async throws {
        let fixture = try await aged()
        #expect(try await drop(fixture, days: 201) == "")
        #expect(try await drop(fixture, days: 199)?.hasPrefix("broad_log_") == true)
        #expect(try await drop(fixture, days: 199) == "")
        #expect(try await drop(fixture)?.hasPrefix("broad_log_") == true)
        #expect(try await drop(fixture) == "")
        for table in PartitionedTable.allCases where table != .broadLog {
            #expect(try await drop(fixture, table)?.hasPrefix(table.rawValue) == true)
        }
        #expect(
            try await fixture.sql("SELECT n FROM pushmta.retention_log WHERE what = 'partitions of broad_log'") == 2
        )
        // Whatever the settings, the partitions of today and yesterday stay, and a delivery can be sent.
        while let name = try await drop(fixture, days: 0), !name.isEmpty {}
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pg_inherits WHERE inhparent = 'pushmta_engine.broad_log'::regclass"
            ) ?? 0 >= 8
        )
    }

    @Test(
        "Data of an unfinished part, uncounted data and data that an open delivery may need is kept",
        arguments: [
            "UPDATE pushmta_engine.delivery_part SET state = 'ready'",
            "UPDATE pushmta_engine.delivery_part SET state = 'done'",
            "DELETE FROM pushmta_engine.delivery_part; UPDATE pushmta_engine.delivery SET state = 'paused'",
            "DELETE FROM pushmta_engine.delivery_part; UPDATE pushmta_engine.delivery SET state = 'analysing'",
            "DELETE FROM pushmta_engine.delivery_part; UPDATE pushmta_engine.delivery SET state = 'ready'",
            """
            UPDATE pushmta_engine.delivery_part SET state = 'done', counted = true;
            INSERT INTO pushmta_engine.tracking_uncounted (delivery_id, hour, log_day, measure, sequences)
            SELECT id, now(), log_day, 19, '{1}' FROM pushmta_engine.delivery
            """,
            """
            UPDATE pushmta_engine.delivery_part SET state = 'done', counted = true;
            INSERT INTO pushmta_engine.late_outcome (part_id, delivery_id, log_day, sequence)
            SELECT 1, id, log_day, 1 FROM pushmta_engine.delivery
            """,
        ]
    )
    func kept(script: String) async throws {
        let fixture = try await aged()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare()
        let connection = try await fixture.database.connect()
        try await connection.run(
            script: """
                UPDATE pushmta_engine.delivery SET state = 'finished', log_day = (now() AT TIME ZONE 'UTC')::date - 200;
                UPDATE pushmta_engine.delivery_part SET log_day = (now() AT TIME ZONE 'UTC')::date - 200;
                \(script)
                """
        )
        await connection.close()
        // The day after it is dropped, the day itself is not.
        #expect(try await drop(fixture)?.isEmpty == false)
        #expect(try await drop(fixture) == "")
        try await fixture.sql(
            """
            WITH a AS (DELETE FROM pushmta_engine.tracking_uncounted), b AS (DELETE FROM pushmta_engine.late_outcome),
                c AS (UPDATE pushmta_engine.delivery SET state = 'finished')
            UPDATE pushmta_engine.delivery_part SET state = 'done', counted = true
            """
        )
        #expect(try await drop(fixture)?.isEmpty == false)
    }

    @Test("A table in use is not waited for")
    func inUse() async throws {
        let fixture = try await aged()
        let reader = try await fixture.hold("SELECT count(*) FROM pushmta_engine.broad_log")
        #expect(try await drop(fixture) == "")
        try await reader.run(script: "COMMIT")
        #expect(try await drop(fixture)?.isEmpty == false)
        await reader.close()
    }

    @Test(
        "Long-disabled subscriptions are deleted, a limited number at a time; deny-listed ones stay"
    )
    func subscriptions() async throws {
        let fixture = try await aged()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET enabled = id > 8, opted_out = id = 9,
                disabled_at = CASE WHEN id <= 5 THEN now() - interval '181 days' WHEN id <= 8 THEN now() - interval '179 days' END,
                quarantine_status = CASE WHEN id = 5 THEN 3 ELSE 0 END
            """
        )
        #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 3, days: 180) == 3)
        #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 3, days: 180) == 1)
        #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 3, days: 180) == 0)
        #expect(try await fixture.sql("SELECT min(id) FROM pushmta_engine.subscription") == 5)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription") == 6)
        #expect(try await fixture.sql("SELECT n FROM pushmta.retention_log WHERE what = 'disabled subscriptions'") == 4)
    }

    @Test("Records of opt-outs stay, and are not examined again and again")
    func optedOut() async throws {
        let fixture = try await aged()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1_000)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET enabled = false, disabled_at = now() - interval '181 days', opted_out = id > 2
            """
        )
        try await fixture.sql("ANALYZE pushmta_engine.subscription")
        let connection = try await fixture.database.connect()
        try await connection.run(script: "BEGIN; SELECT pushmta_engine.purge_subscriptions(100, interval '180 days')")
        let read = try await connection.execute(
            PostgresStatement(
                """
                SELECT idx_tup_fetch + seq_tup_read FROM pg_stat_xact_user_tables
                WHERE schemaname = 'pushmta_engine' AND relname = 'subscription'
                """,
                prepare: false
            )
        )
        #expect(try read.int64(0, 0) < 50)
        try await connection.run(script: "COMMIT")
        await connection.close()
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription") == 998)
        #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 100, days: 180) == 0)
    }

    @Test("Decided token events are deleted, waiting or held ones stay")
    func tokenEvents() async throws {
        let fixture = try await aged()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, state, created_at)
            SELECT 1, n, 'invalid', (ARRAY['applied', 'pending', 'held', 'undone', 'outdated'])[n % 5 + 1],
                now() - CASE WHEN n > 3 THEN interval '181 days' ELSE n * interval '50 days' END
            FROM generate_series(10, 1, -1) n
            """
        )
        #expect(try await fixture.store.purgeTokenEvents(worker: worker, limit: 100, days: 180) == 5)
        #expect(try await fixture.store.purgeTokenEvents(worker: worker, limit: 100, days: 180) == 0)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event") == 5)
    }

    /// Like the worker's next round, ten minutes later.
    private func nextRound(_ fixture: StoreFixture, _ rounds: Int = 1) async throws {
        try await fixture.sql(
            """
            UPDATE pushmta_engine.retention_hold SET rounds = rounds + \(rounds - 1), last_round = last_round - interval '10 minutes'
            """
        )
    }

    @Test(
        "If many days become old at once, none is dropped for a day, then one per round; correcting the clock ends the hold"
    )
    func manyDays() async throws {
        let fixture = try await aged()
        let first = "(now() AT TIME ZONE 'UTC')::date"
        try await fixture.sql("SELECT pushmta_engine.ensure_partitions(\(first) - 206, \(first) - 201)")
        #expect(try await drop(fixture, days: 203)?.hasPrefix("broad_log_") == true, "a few go as ever")
        for _ in 0..<3 { #expect(try await drop(fixture) == "") }
        #expect(try await fixture.alarms("retention_held").map(\.subject) == ["partitions of broad_log"])
        #expect(try await fixture.sql("SELECT rounds FROM pushmta_engine.retention_hold") == 1, "calls are no rounds")
        // The other tables have as many old days, and separate rounds.
        #expect(try await drop(fixture, .trackingLog) == "")
        try await nextRound(fixture, 143)
        #expect(try await drop(fixture) == "")
        try await nextRound(fixture)
        #expect(try await drop(fixture)?.hasPrefix("broad_log_") == true)
        #expect(try await drop(fixture) == "", "one in a round")
        #expect(try await fixture.alarms("retention_held").map(\.subject) == ["partitions of tracking_log"])
        // By the correct clock, nothing is old.
        #expect(try await drop(fixture, days: 300) == "")
        #expect(try await drop(fixture, .trackingLog, days: 300) == "")
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.retention_hold") == 0)
        #expect(try await drop(fixture) == "", "a new hold")
    }

    @Test("A jump of the clock does not delete all disabled subscriptions and token events")
    func jump() async throws {
        let fixture = try await aged()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        try await fixture.sql(
            """
            WITH s AS (UPDATE pushmta_engine.subscription SET enabled = false, disabled_at = now() - id * interval '1 day' + interval '1 hour')
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, state, created_at)
            SELECT 1, n, 'invalid', 'applied', now() - n * interval '1 day' + interval '1 hour' FROM generate_series(10, 1, -1) n
            """
        )
        // A clock that is a year ahead has the same effect as a retention that is a year shorter.
        for days in [-185, -360] {
            #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 100, days: days) == 0)
            #expect(try await fixture.store.purgeTokenEvents(worker: worker, limit: 100, days: days) == 0)
        }
        #expect(try await fixture.alarms("retention_held").count == 2)
        #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 100, days: 8) == 2)
        #expect(try await fixture.store.purgeTokenEvents(worker: worker, limit: 100, days: 8) == 2)
        #expect(try await fixture.alarms("retention_held").isEmpty)
        // A shorter retention takes effect after a day.
        #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 2, days: 1) == 0)
        #expect(try await fixture.store.purgeTokenEvents(worker: worker, limit: 2, days: 1) == 0)
        try await nextRound(fixture, 144)
        #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 2, days: 1) == 2)
        #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 100, days: 1) == 5)
        #expect(try await fixture.store.purgeTokenEvents(worker: worker, limit: 2, days: 1) == 2)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription") == 1)
    }

    @Test("Sources of hits are deleted when no day with their hits is left")
    func trackingSources() async throws {
        let fixture = try await aged()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.tracking_source (id, position, changed_at)
            SELECT gen_random_uuid(), n, now() - n * interval '1 day' FROM unnest(ARRAY[0, 100, 201, 203, 400]) n
            """
        )
        let positions = "SELECT sum(position)::bigint FROM pushmta_engine.tracking_source"
        #expect(try await fixture.store.purgeTrackingSources(worker: worker, limit: 1) == 1)
        #expect(try await fixture.store.purgeTrackingSources(worker: worker, limit: 100) == 1)
        #expect(try await fixture.sql("\(positions)") == 0 + 100 + 201)
        while let name = try await drop(fixture, .trackingLog, days: 180), !name.isEmpty {}
        #expect(try await fixture.store.purgeTrackingSources(worker: worker, limit: 100) == 2)
        #expect(try await fixture.sql("\(positions)") == 0)
        #expect(try await fixture.store.purgeTrackingSources(worker: StoreFixture.otherWorker, limit: 100) == nil)
        #expect(try await fixture.sql("SELECT n FROM pushmta.retention_log WHERE what = 'tracking sources'") == 4)
    }
}
