import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Only one feedback worker is active")
struct FeedbackWorkerTests {
    private let worker = StoreFixture.worker
    private let another = StoreFixture.otherWorker

    private func state(_ fixture: StoreFixture, _ worker: String) async throws -> String? {
        try await fixture.store.feedbackWorkers().first { $0.id == worker }?.state
    }

    @Test("The first worker is active, the others stand by until it ends")
    func handover() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await !fixture.store.isFeedbackWorkerActing())
        #expect(try await fixture.heartbeat(worker))
        #expect(try await !fixture.heartbeat(another))
        #expect(try await fixture.heartbeat(worker))
        #expect(try await state(fixture, worker) == "acting")
        #expect(try await state(fixture, another) == "standby")
        #expect(try await fixture.store.countHits(worker: worker, limit: 10) == 0)
        #expect(try await fixture.store.countHits(worker: another, limit: 10) == nil)
        #expect(try await fixture.store.isFeedbackWorkerActing())
        try await fixture.store.feedbackStop(worker: worker)
        #expect(try await !fixture.store.isFeedbackWorkerActing())
        #expect(try await fixture.heartbeat(another))
        #expect(try await state(fixture, worker) == "stopped")
        #expect(try await fixture.store.feedbackWorkers().map(\.id) == [another, worker])
    }

    @Test(
        "A worker that was silent for a lease does nothing when it wakes up; a clock set back keeps no worker active"
    )
    func silence() async throws {
        let fixture = try await StoreFixture.make()
        for shift in ["- interval '16 s'", "+ interval '1 hour'"] {
            #expect(try await fixture.heartbeat(worker))
            #expect(try await !fixture.heartbeat(another))
            try await fixture.sql(
                "UPDATE pushmta_engine.feedback_worker SET last_heartbeat = last_heartbeat \(shift) WHERE id = '\(worker)'"
            )
            #expect(try await fixture.heartbeat(another))
            let rules = QuarantineSettings()
            #expect(try await fixture.store.countOutcomes(worker: worker, messages: 10) == nil)
            #expect(try await fixture.store.purgeSubscriptions(worker: worker, limit: 10, days: 1) == nil)
            #expect(try await fixture.store.dropOldPartition(worker: worker, of: .broadLog, days: 1) == nil)
            try await fixture.store.seedSubscriptions(application: "shop-ios", count: 1)
            try await fixture.sql(
                """
                INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind)
                SELECT 1, max(id), 'invalid' FROM pushmta_engine.subscription
                """
            )
            #expect(try await fixture.store.applyTokenEvents(worker: worker, limit: 10, rules: rules) == nil)
            #expect(try await !fixture.heartbeat(worker))
            #expect(try await fixture.store.applyTokenEvents(worker: another, limit: 10, rules: rules) == 1)
            try await fixture.store.feedbackStop(worker: another)
        }
    }

    @Test("A worker that takes over waits for the transaction of the previous one")
    func fence() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat(worker))
        try await fixture.sql(
            "UPDATE pushmta_engine.feedback_worker SET last_heartbeat = last_heartbeat - interval '1 minute'"
        )
        let working = try await fixture.hold("SELECT pushmta_engine.feedback_fence('\(worker)')")
        let takeover = Task { try await fixture.heartbeat(another) }
        try await fixture.waitForLock()
        // Its own connection waits too.
        let rows = try await fixture.sql("SELECT count(*) FROM pushmta_engine.feedback_worker")
        #expect(rows == 1, "its transaction has not ended")
        try await working.run(script: "COMMIT")
        #expect(try await takeover.value)
        #expect(try await fixture.store.countHits(worker: worker, limit: 10) == nil)
        await working.close()
    }

    @Test("Its heartbeat does not wait for its own work")
    func heartbeatBesideWork() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.heartbeat(worker))
        let working = try await fixture.hold("SELECT pushmta_engine.feedback_fence('\(worker)')")
        #expect(try await fixture.heartbeat(worker))
        try await working.run(script: "COMMIT")
        await working.close()
    }

    @Test("The cost of dead tokens does not depend on how many there were before")
    func steadyCost() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 5_000)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, state)
            SELECT 1, s.id, 'invalid', CASE WHEN n = 20 AND s.id <= 100 THEN 'pending' ELSE 'outdated' END
            FROM pushmta_engine.subscription s CROSS JOIN generate_series(1, 20) n ORDER BY n
            """
        )
        try await fixture.sql("ANALYZE")
        let cost = try await cost(
            of: 1_000,
            "idx_tup_fetch + seq_tup_read",
            in: fixture,
            settings: "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;"
        )
        #expect(cost.decided == 100)
        // A subscription's events are searched for replaced tokens: twenty each.
        #expect(cost.events < 5_000)
    }

    @Test("Dead tokens are looked up once each, even without statistics of the tables")
    func costWithoutStatistics() async throws {
        let fixture = try await StoreFixture.make()
        for table in ["subscription", "token_event"] {
            try await fixture.sql("ALTER TABLE pushmta_engine.\(table) SET (autovacuum_enabled = off)")
        }
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 2_000)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind)
            SELECT 1, s.id, 'invalid' FROM pushmta_engine.subscription s
            """
        )
        let cost = try await cost(of: 1_000, "idx_scan", in: fixture)
        #expect(cost.decided == 1_000)
        // For each event: its row, the earlier replacements, and the row that is written.
        #expect(cost.events < 5_000)
        #expect(cost.subscriptions < 5_000)
    }

    @Test("No more of a backlog is read than is applied")
    func costOfABacklog() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10_000)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind)
            SELECT 1, s.id, 'invalid' FROM pushmta_engine.subscription s CROSS JOIN generate_series(1, 3)
            """
        )
        try await fixture.sql("ANALYZE")
        let cost = try await cost(of: 100, "idx_tup_fetch + seq_tup_read", in: fixture)
        #expect(cost.decided == 100)
        #expect(cost.events < 2_000)
    }

    /// Applies dead tokens in a transaction that ends with its connection; returns how many, and a statistic of
    /// PostgreSQL about the tables.
    private func cost(
        of maxTokens: Int,
        _ measure: String,
        in fixture: StoreFixture,
        settings: String = ""
    ) async throws -> (decided: Int32, events: Int64, subscriptions: Int64) {
        let connection = try await fixture.database.connect()
        try await connection.run(script: "\(settings) BEGIN")
        let applied = try await connection.execute(
            PostgresStatement("SELECT pushmta_engine.apply_invalid_tokens(\(maxTokens))", prepare: false)
        )
        let spent = try await connection.execute(
            PostgresStatement(
                """
                SELECT \(measure) FROM pg_stat_xact_user_tables
                WHERE schemaname = 'pushmta_engine' AND relname IN ('token_event', 'subscription') ORDER BY relname DESC
                """,
                prepare: false
            )
        )
        await connection.close()
        return (try applied.int32(0, 0), try spent.int64(0, 0), try spent.int64(1, 0))
    }

    @Test("Pending work of the worker is visible")
    func backlog() async throws {
        let fixture = try await StoreFixture.make()
        var backlog = try await fixture.store.feedbackBacklog()
        #expect(
            backlog.oldestTokenEventSeconds == nil && backlog.uncountedParts == 0 && backlog.oldestHitSeconds == nil
        )
        #expect(!backlog.isWorkerActing)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, created_at)
            SELECT 1, 1, unnest(ARRAY['invalid', 'soft_error']), now() - interval '1 hour'
            """
        )
        _ = try await fixture.heartbeat()
        backlog = try await fixture.store.feedbackBacklog()
        #expect(backlog.isWorkerActing)
        #expect(try required(backlog.oldestTokenEventSeconds) >= 3_600)
    }
}
