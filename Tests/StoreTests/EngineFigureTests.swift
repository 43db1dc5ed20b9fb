import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

/// The database queries of metrics.
@Suite struct EngineFigureTests {
    @Test func queuesAreCountedByLane() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 400)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 100)
        var figures = try await fixture.store.engineFigures()
        #expect(figures.queues.map(\.messages) == [400] && figures.queues.first?.isTransactional == false)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part SET priority = CASE WHEN id % 2 = 0 THEN 50 ELSE 0 END,
                not_before = now() - CASE WHEN id % 2 = 0 THEN interval '10 s' ELSE interval '1 hour' END
            """
        )
        figures = try await fixture.store.engineFigures()
        let urgent = try #require(figures.queues.first { $0.isTransactional })
        let bulk = try #require(figures.queues.first { !$0.isTransactional })
        // Parts may have different sizes.
        let expected = try await fixture.sql(
            "SELECT sum(size)::bigint FROM pushmta_engine.delivery_part WHERE priority = 50"
        )
        #expect(urgent.messages == expected && (9...3_000).contains(urgent.oldestSeconds))
        #expect(urgent.messages + bulk.messages == 400 && bulk.messages > 0)
        #expect(bulk.oldestSeconds > 3_590 && bulk.application == "shop-ios")
        // Messages that are not due do not count as waiting.
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET not_before = now() + interval '1 hour'")
        #expect(try await fixture.store.engineFigures().queues.isEmpty)
    }

    /// A child may hold claimed messages back because of a rate.
    @Test func claimedMessagesAgeToo() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        _ = try await fixture.startedDelivery()
        try await fixture.prepare(partSize: 100)
        let claimed = try await fixture.claim(limit: 100).reduce(0) { $0 + Int64($1.size) }
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery_part SET priority = 50, not_before = now() - interval '150 s'"
        )
        let queue = try #require(try await fixture.store.engineFigures().queues.first)
        #expect(claimed == 100 && queue.claimed == 100 && queue.messages == 0 && queue.isTransactional)
        #expect(queue.oldestSeconds > 149)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET sent = size")
        #expect(try await fixture.store.engineFigures().queues.isEmpty, "each has its outcome")
    }

    /// Only a host started after another's last heartbeat has replaced it; one with the same name in parallel has not.
    @Test func aHostIsReplacedByALaterOneOfItsName() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            UPDATE pushmta_engine.mta_host SET name = 'push', started_at = now() - interval '1 hour',
                last_heartbeat = now() - interval '1 minute'
            """
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.mta_host SELECT (jsonb_populate_record(h, jsonb_build_object('id', gen_random_uuid(),
                'last_heartbeat', now()))).* FROM pushmta_engine.mta_host h LIMIT 1
            """
        )
        func gone() async throws -> [Bool] {
            let hosts = try await fixture.store.engineFigures().hosts
            return hosts.filter { $0.health == "gone" && $0.name == "push" }.map(\.isReplaced)
        }
        let beside = try await gone()
        #expect(!beside.isEmpty && !beside.contains(true))
        try await fixture.sql(
            "UPDATE pushmta_engine.mta_host SET started_at = now() WHERE last_heartbeat > now() - interval '30 s'"
        )
        let later = try await gone()
        #expect(!later.isEmpty && !later.contains(false))
    }

    @Test func deliveriesAreCountedByState() async throws {
        let fixture = try await StoreFixture.make()
        let paused = try await fixture.startedDelivery()
        let waiting = try await fixture.startedDelivery()
        let content = #"{"ios": {"title": "a"}}"#
        for label in ["analysed", "analysed without success"] {
            let new = NewDelivery(label: label, applications: ["shop-ios"], content: content)
            try await fixture.store.analyzeDelivery(try await fixture.store.createDelivery(new))
        }
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET wait_reason = 'a view is away' WHERE label = 'analysed without success'"
        )
        try await fixture.store.pauseDelivery(paused)
        try await fixture.store.postponePreparation(waiting, reason: "a view is away")
        let figures = try await fixture.store.engineFigures().deliveries
        let counts = Dictionary(uniqueKeysWithValues: figures.map { ($0.state, $0.count) })
        #expect(
            counts == ["analysing": 1, "pending": 0, "preparing": 0, "waiting": 2, "in_progress": 0, "paused": 1],
            "\(counts)"
        )
    }

    @Test func aWriteFindsOutWhatReadingDoesNot() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.store.takesWrites())
        try await fixture.sql(
            """
            DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$
            """
        )
        let later = Store(configuration: fixture.database.configuration())
        #expect(try await !later.takesWrites())
        await later.close()
    }

    @Test func applicationsTellHowTheyStand() async throws {
        let fixture = try await StoreFixture.make()
        let application = try await fixture.store.application(named: "shop-ios")
        let account = try #require(application.accountID)
        var seen = try #require(
            try await fixture.store.engineFigures().applications.first { $0.id == application.id }
        )
        #expect(seen.name == "shop-ios" && !seen.isCircuitOpen && seen.trouble == .none && seen.connector != nil)
        try await fixture.store.enterTrouble(
            application: application.id,
            account: account,
            reason: "connection refused",
            nextProbeIn: .seconds(1),
            keepsProber: false
        )
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.application_health (application_id, state, next_probe_at)
            VALUES (\(application.id), 'open', now())
            ON CONFLICT (application_id) DO UPDATE SET state = 'open', next_probe_at = now()
            """
        )
        seen = try #require(try await fixture.store.engineFigures().applications.first { $0.id == application.id })
        #expect(seen.isCircuitOpen && seen.trouble == .trouble)
    }

    @Test func hostsAndTheDatabaseAreCounted() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.mta_host (id, name, pid, state, last_heartbeat) VALUES
                ('00000000-0000-4000-8000-000000000001', 'here', 1, 'running', now()),
                ('00000000-0000-4000-8000-000000000002', 'lost', 1, 'running', now() - interval '16 s'),
                ('00000000-0000-4000-8000-000000000003', 'ended', 1, 'stopped', now() - interval '1 day')
            """
        )
        let figures = try await fixture.store.engineFigures()
        func names(_ health: String) -> [String] { figures.hosts.filter { $0.health == health }.map(\.name) }
        #expect(names("gone") == ["lost"] && names("stopped") == ["ended"] && names("alive").contains("here"))
        #expect(!figures.isFeedbackActing && figures.retentionHolds == 0 && figures.eventLagSeconds == 0)
        #expect(figures.database.deadRows["delivery_part"] != nil && figures.database.replicas.isEmpty)
        // Partitions count as part of their table.
        #expect(!figures.database.deadRows.keys.contains { $0.contains("_20") }, "\(figures.database.deadRows.keys)")
    }

    /// Other users' statistics and replication need pg_monitor; without it they are omitted, and nothing fails.
    @Test func aRoleWithoutRightsToStatisticsReadsTheRest() async throws {
        let fixture = try await StoreFixture.make()
        let role = "figures_\(fixture.database.name)"
        try await fixture.sql("CREATE ROLE \(role) LOGIN IN ROLE pushmta_runtime")
        var configuration = fixture.database.configuration()
        configuration.connectionString += " user=\(role)"
        let store = try await Store.connect(configuration)
        let figures = try await store.engineFigures()
        #expect(figures.applications.contains { $0.name == "shop-ios" })
        await store.close()
    }
}
