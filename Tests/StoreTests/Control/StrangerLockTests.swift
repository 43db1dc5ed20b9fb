import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Any role that may connect can take advisory locks, and locks on objects that it has rights on. An open transaction
/// can keep them for hours.
@Suite("Locks of strangers", .timeLimit(.minutes(2)))
struct StrangerLockTests {
    private static let outsiders = ["pushmta_marketing", "pushmta_monitoring", "pushmta_web", "pushmta_console"]

    @Test("No function waits for a lock that any role may take")
    func advisory() async throws {
        let fixture = try await StoreFixture.make()
        let found = try await fixture.sql(
            """
            SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname IN ('pushmta', 'pushmta_engine', 'pushmta_raw') AND p.prosrc ~* 'advisory'
            """
        )
        #expect(found == 0)
        // The advisory locks of earlier versions block nothing.
        let watcher = try await fixture.hold(
            """
            SET ROLE pushmta_monitoring;
            SELECT pg_advisory_lock(5786284502000 + n), pg_advisory_lock(578628450, n) FROM generate_series(1, 9) n
            """
        )
        let made = try await fixture.sql(
            """
            SELECT r.created FROM pushmta_engine.register_devices(ARRAY[(SELECT a.id FROM pushmta_engine.application a WHERE a.name = 'shop-ios')],
                ARRAY[repeat('a', 64)], ARRAY['u'], ARRAY[NULL], ARRAY[''], ARRAY[''], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL]) r
            """
        )
        #expect(made == 1)
        await watcher.close()
    }

    @Test("Outsiders cannot lock any table against others")
    func tables() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        for role in Self.outsiders {
            try await connection.run(
                script: """
                    SET ROLE \(role);
                    DO $$ DECLARE name text; locked text := '';
                    BEGIN
                        FOR name IN SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                            WHERE n.nspname IN ('pushmta', 'pushmta_engine') AND c.relkind IN ('r', 'p', 'v') ORDER BY 1
                        LOOP
                            BEGIN
                                -- The weakest mode that stands against another's writing.
                                EXECUTE format('LOCK TABLE %s IN SHARE MODE NOWAIT', name);
                                locked := locked || name || ' ';
                            EXCEPTION WHEN insufficient_privilege THEN NULL;
                            END;
                        END LOOP;
                        PERFORM set_config('test.locked', locked, false);
                    END $$;
                    RESET ROLE
                    """
            )
            let locked = try await connection.execute(
                PostgresStatement("SELECT current_setting('test.locked')", prepare: false)
            ).text(0, 0)
            #expect(locked.isEmpty, "\(role): \(locked)")
        }
        await connection.close()
    }

    @Test("A locked list of targets makes only its own deliveries wait, and they say who holds the lock")
    func targets() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        let listed = try await fixture.startedDelivery(explicit: true)
        try await fixture.sql(
            """
            INSERT INTO pushmta.delivery_target (delivery_id, subscription_id) SELECT \(listed), s.id FROM pushmta_engine.subscription s
            """
        )
        try await fixture.store.startDelivery(listed)
        let other = try await fixture.startedDelivery()
        let holder = try await fixture.hold(
            "SET application_name = 'campaigns'; LOCK TABLE pushmta.delivery_target"
        )
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first?.deliveryID == other)
        let reason = try await fixture.store.deliveryProgress(listed).waitingReason
        for words in ["locked", "pushmta.delivery_target", "campaigns"] { #expect(reason.contains(words), "\(reason)") }
        #expect(try await fixture.alarms("delivery_waiting").contains { $0.subject == String(listed) })
        try await holder.run(script: "ROLLBACK")
        await holder.close()
        try await fixture.sql("UPDATE pushmta_engine.delivery SET wait_until = NULL")
        let job = try required(
            try await fixture.store.claimDeliveriesToPrepare(host: fixture.host, except: [other]).first
        )
        #expect(try await fixture.store.prepareChunk(job).messages == 10)
        #expect(try await fixture.store.deliveryProgress(listed).waitingReason.isEmpty)
    }

    @Test("However many deliveries a locked list of targets affects, one waits for it, and one alarm says so")
    func manyTargets() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 10)
        var listed: [Int64] = []
        for _ in 0..<30 {
            let id = try await fixture.startedDelivery(explicit: true)
            try await fixture.store.startDelivery(id)
            listed.append(id)
        }
        let other = try await fixture.startedDelivery()
        // The other delivery is between the first of the list and the rest.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery SET priority = CASE id WHEN \(listed[0]) THEN 9 WHEN \(other) THEN 5 ELSE 0 END
            """
        )
        let holder = try await fixture.hold("LOCK TABLE pushmta.delivery_target")
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first?.deliveryID == other)
        let waiting = try await fixture.sql("SELECT count(*) FROM pushmta_engine.delivery WHERE wait_until > now()")
        #expect(waiting == 30)
        let alarms = try await fixture.alarms("delivery_waiting")
        #expect(alarms.map(\.subject) == [String(listed[0])] && alarms[0].text.contains("and 29 others"), "\(alarms)")
        await holder.close()
    }

    @Test("Deliveries that an open transaction locks hold up no others, and the possible holder is named")
    func manyDeliveries() async throws {
        let fixture = try await StoreFixture.make()
        var held: [Int64] = []
        for _ in 0..<30 { held.append(try await fixture.startedDelivery()) }
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET start_at = now() - interval '2 minutes', valid_until = now() + interval '1 hour'"
        )
        let other = try await fixture.startedDelivery()
        let holder = try await fixture.hold(
            """
            SET application_name = 'nightly'; SET ROLE pushmta_marketing;
            SELECT pushmta.set_delivery_weight(d, 5) FROM unnest(ARRAY\(held)) d
            """
        )
        let claimed = try await fixture.store.claimDeliveriesToPrepare(host: fixture.host, limit: 2)
        #expect(claimed.map(\.deliveryID) == [other])
        let named = """
            SELECT count(*) FROM pushmta.alarm a
            WHERE a.code = 'deliveries_unprepared' AND a.text LIKE '%may hold deliveries: session % (nightly)'
            """
        // After ten seconds, like all locks.
        try await eventually("the holder is named") { try await fixture.sql(named) == 1 }
        await holder.close()
    }

    @Test(
        "The holder of a lock on a table behind a mapping's view is named, and so is a stranger's lock on an engine table"
    )
    func others() async throws {
        let fixture = try await StoreFixture.make()
        var configuration = fixture.database.configuration()
        configuration.lockTimeoutMilliseconds = 200
        let store = Store(configuration: configuration)
        try await store.seedSubscriptions(application: "shop-ios", count: 5)
        try await fixture.sql("CREATE TABLE person (key text PRIMARY KEY, city text)")
        try await store.createMapping(name: "m", label: "", view: "person", keyColumn: "key")
        try await store.setService(name: "shop", mapping: "m")
        let id = try await fixture.filteredDelivery("mapping.city is null")
        let holder = try await fixture.hold(
            "SET application_name = 'nightly'; LOCK TABLE public.person, pushmta_engine.registration_lock"
        )
        let job = try required(try await store.claimDeliveriesToPrepare(host: fixture.host).first)
        do {
            _ = try await store.prepareChunk(job)
            Issue.record("it was read")
        } catch {
            guard case .waits(let reason, isTimeout: _) = store.decision(on: error, of: job) else { throw error }
            #expect(reason.contains("has locked public.person") && !reason.contains("waiting for it"), "\(reason)")
        }
        #expect(job.deliveryID == id)
        let wait = try required(try await store.lockWaits().first)
        #expect(
            wait.text.contains("(nightly) has locked pushmta_engine.registration_lock (AccessExclusiveLock)"),
            "\(wait)"
        )
        try await holder.run(script: "ROLLBACK")
        await holder.close()
        await store.close()
    }

    @Test("A waiting lock on a delivery holds up no part for long")
    func queue() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        // Like a session that pauses another delivery in the same table, and leaves the transaction open.
        let holder = try await fixture.hold("SELECT pushmta_engine.take_turn(\(id))")
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: part.fencingToken)))
        #expect(try await fixture.parts(id, "ready") == 1)
        await holder.close()
    }

    @Test("A pause waits for an open transaction that adds messages, but not forever, and its error names the holder")
    func senders() async throws {
        let (fixture, id) = try await StoreFixture.continuous()
        let send =
            "SELECT pushmta.send_message(\(id), user_key => (SELECT min(user_key) FROM pushmta_engine.subscription))"
        // The day exists: the first message opened it.
        try await fixture.sql("SELECT count(*) FROM (\(send)) m")
        let holder = try await fixture.hold(send)
        let error = await #expect(throws: (any Error).self) { try await fixture.store.pauseDelivery(id) }
        #expect("\(error.map { "\($0)" } ?? "")".contains("pushmta/test"), "\(String(describing: error))")
        try await holder.run(script: "COMMIT")
        try await fixture.store.pauseDelivery(id)
        await #expect(throws: (any Error).self) { try await fixture.sql(send) }
        #expect(
            try await fixture.sql("SELECT sum(p.size) FROM pushmta_engine.delivery_part p WHERE p.state = 'waiting'")
                == 2
        )
        await holder.close()
    }

    @Test("A session that uses one of our names is recognised by its login")
    func falseName() async throws {
        let fixture = try await StoreFixture.make()
        let login = "marketing_\(fixture.database.name)"
        try await fixture.sql("CREATE ROLE \(login) LOGIN IN ROLE pushmta_marketing")
        try await fixture.sql("GRANT DELETE ON pushmta.delivery_target TO \(login)")
        var configuration = fixture.database.configuration(role: "child")
        configuration.connectionString += " user=\(login)"
        let stranger = try await PostgresConnection.forPeople(configuration)
        try await stranger.run(script: "BEGIN; LOCK TABLE pushmta.delivery_target IN ACCESS EXCLUSIVE MODE")
        #expect(try await fixture.store.lockWaits().map { $0.text.contains(login) } == [true])
        await stranger.close()
    }

    @Test("While tables are locked, alarms say so at once, with the holder")
    func alarms() async throws {
        let fixture = try await StoreFixture.make()
        #expect(try await fixture.store.lockWaits().isEmpty)
        let holder = try await fixture.hold(
            """
            SET application_name = 'maintenance'; LOCK TABLE pushmta_engine.broad_log, pushmta_engine.delivery_part, pushmta_engine.delivery,
                pushmta_engine.mta_host, pushmta_engine.schema_version
            """
        )
        var configuration = fixture.store.configuration
        configuration.lockTimeoutMilliseconds = 50
        let impatient = Store(configuration: configuration)
        let alarms = try await impatient.alarms()
        #expect(Set(alarms.map(\.code)) == ["alarms_unreadable", "lock_held"])
        let held = try required(alarms.first { $0.code == "lock_held" })
        #expect(held.text.contains("maintenance") && held.text.contains("pushmta_engine."), "\(held.text)")
        #expect(held.severity == .critical && held.since != nil)
        try await holder.run(script: "ROLLBACK")
        #expect(try await impatient.alarms().isEmpty)
        // A transaction older than ten seconds is in the alarm view itself.
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta.lock_alarm") == 0)
        await holder.close()
        await impatient.close()
    }
}
