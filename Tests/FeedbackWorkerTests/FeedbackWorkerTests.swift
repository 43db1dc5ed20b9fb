import Logging
import PushCore
import Store
import TestSupport
import Testing

@testable import FeedbackWorker

@Suite("The feedback worker")
struct FeedbackWorkerTests {
    private let enabled = "SELECT count(*) FROM pushmta_engine.subscription WHERE enabled"
    private let acting = "SELECT count(*) FROM pushmta.feedback_worker WHERE state = 'acting'"

    @Test("It applies token events, says so in its row, and ends in order")
    func applies() async throws {
        let site = try await FeedbackSite.make()
        try await site.addDeadTokens(5_000)
        let worker = site.worker()
        let running = Task { await worker.run() }
        #expect(try await site.wait(for: 0, enabled))
        #expect(
            try await site.wait(
                for: 5_000,
                "SELECT token_events FROM pushmta.feedback_worker WHERE last_action LIKE 'token events applied: %'"
            )
        )
        worker.drain()
        await running.value
        #expect(try await site.store.feedbackWorkers().map(\.state) == ["stopped"])
    }

    @Test("It notes alarms too, so that a supervisor that stands still is on record where there is no other")
    func alarms() async throws {
        let site = try await FeedbackSite.make()
        try await site.run(
            """
            INSERT INTO pushmta_engine.mta_host (id, name, pid, version, schema_version, state, journal_folder, last_heartbeat)
            VALUES (gen_random_uuid(), 'push-9', 1, '1', 1, 'running', '/x', now() - interval '1 hour');
            UPDATE pushmta_engine.alarm_look SET looked_at = now() - interval '10 seconds'
            """
        )
        let worker = site.worker()
        let running = Task { await worker.run() }
        let gone = "SELECT count(*) FROM pushmta.alarm_history WHERE code = 'host_gone' AND ended_at IS NULL"
        #expect(try await site.wait(for: 1, gone))
        worker.drain()
        await running.value
    }

    @Test("A backlog of token events is decided in twos, each event once")
    func backlog() async throws {
        let site = try await FeedbackSite.make()
        try await site.addDeadTokens(5_000)
        // Of each token a second event far behind the first, so that both may be looked at in the same moment.
        try await site.run(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, reason)
            SELECT 1, s.id, 'invalid', 'Unregistered' FROM pushmta_engine.subscription s;
            CREATE TABLE public.seen (session integer, event bigint);
            CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                INSERT INTO public.seen SELECT pg_backend_pid(), n.id FROM n JOIN o USING (id) WHERE o.state <> n.state;
                RETURN NULL;
            END $$;
            CREATE TRIGGER see AFTER UPDATE ON pushmta_engine.token_event
                REFERENCING OLD TABLE AS o NEW TABLE AS n FOR EACH STATEMENT EXECUTE FUNCTION public.see();
            """
        )
        let worker = site.worker()
        let running = Task { await worker.run() }
        let pending = "SELECT count(*) FROM pushmta_engine.token_event WHERE state = 'pending'"
        #expect(try await site.wait(for: 0, pending))
        worker.drain()
        await running.value
        #expect(try await site.number(enabled) == 0)
        let applied = "SELECT count(*) FROM pushmta_engine.token_event WHERE state = 'applied'"
        #expect(try await site.number(applied) == 5_000)
        #expect(try await site.number("SELECT count(*) FROM public.seen") == 10_000)
        #expect(try await site.number("SELECT count(DISTINCT event) FROM public.seen") == 10_000)
        #expect(try await site.number("SELECT count(DISTINCT session) FROM public.seen") == 2)
    }

    @Test("Of several one acts, and another takes over when it ends")
    func takeover() async throws {
        let site = try await FeedbackSite.make()
        let workers = (0..<3).map { _ in site.worker() }
        let running = workers.map { worker in Task { await worker.run() } }
        #expect(try await site.wait(for: 3, "SELECT count(*) FROM pushmta.feedback_worker"))
        for round in 0..<3 {
            #expect(try await site.wait(for: 1, acting))
            let first = try await site.store.feedbackWorkers().first
            guard let place = workers.firstIndex(where: { $0.id == first?.id }) else {
                Issue.record("Nobody acts in round \(round).")
                break
            }
            try await site.addDeadTokens(10)
            #expect(try await site.wait(for: 0, enabled))
            workers[place].drain()
            await running[place].value
        }
        #expect(try await site.number(acting) == 0)
        for worker in workers { worker.drain() }
        for task in running { await task.value }
    }

    @Test("Its sessions may be ended, and PostgreSQL crash: it waits and goes on")
    func outage() async throws {
        let cluster = try await TestCluster.start()
        let site = try await FeedbackSite.make(in: cluster)
        let worker = site.worker { $0.settings.mta.master.dataBaseRetryDelaySec = 1 }
        let running = Task { await worker.run() }
        #expect(try await site.wait(for: 1, acting))
        try await site.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        )
        // The test's own session was ended too: the first call may hear of it.
        _ = try? await site.store.databaseClock()
        try await site.addDeadTokens(3_000)
        try await cluster.stop(immediately: true)
        try await cluster.launch()
        #expect(try await site.wait(for: 0, enabled))
        #expect(try await site.wait(for: 1, acting))
        worker.drain()
        await running.value
        await site.store.close()
    }

    @Test("It ends at once while the database is away")
    func drainWithoutDatabase() async throws {
        let worker = FeedbackWorker(
            FeedbackSetup(
                settings: Settings(),
                connect: { _ in throw StoreError(.schema, "There is no database.") },
                hostName: "one",
                version: "1",
                logger: Logger(label: "feedback", factory: { _ in SwiftLogNoOpLogHandler() })
            )
        )
        let running = Task { await worker.run() }
        worker.drain()
        await running.value
        #expect(!worker.isActing)
    }

    @Test("What is too old goes by itself, as the settings say")
    func retention() async throws {
        let site = try await FeedbackSite.make()
        try await site.store.seedSubscriptions(application: "shop-ios", count: 10)
        try await site.run(
            """
            UPDATE pushmta_engine.subscription SET enabled = false, disabled_at = now() - interval '22 days' WHERE id <= 4;
            SELECT pushmta_engine.ensure_partitions((now() AT TIME ZONE 'UTC')::date - 40, (now() AT TIME ZONE 'UTC')::date - 38)
            """
        )
        let worker = site.worker {
            $0.settings.feedback.retention.disabledSubscriptionDays = 20
            $0.settings.feedback.retention.broadLogDays = 39
            $0.settings.feedback.retention.trackingLogDays = 0
            $0.settings.feedback.retention.exclusionLogDays = 37
        }
        let running = Task { await worker.run() }
        #expect(try await site.wait(for: 6, "SELECT count(*) FROM pushmta_engine.subscription"))
        func days(_ table: String) -> String {
            "SELECT coalesce(sum(n), 0) FROM pushmta.retention_log WHERE what = 'partitions of \(table)'"
        }
        #expect(try await site.wait(for: 3, days("exclusion_log")))
        #expect(try await site.number(days("broad_log")) == 1)
        #expect(try await site.number(days("delivery_part_target")) == 1)
        #expect(try await site.number(days("tracking_log")) == 0)
        worker.drain()
        await running.value
    }
}
