import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Functions in a mapping's view belong to the view's owner, who has no other rights. They attempt everything they can.
@Suite("Code in a target mapping's view")
struct ViewBoundaryTests {
    private struct World {
        let fixture: StoreFixture
        let owner: String

        /// - Parameter body: the view's code for each person, in plpgsql; it returns a text.
        static func make(_ body: String, people: Int64 = 20) async throws -> World {
            let fixture = try await StoreFixture.make()
            let owner = "crm_\(fixture.database.name)"
            try await fixture.store.seedSubscriptions(application: "shop-ios", count: people)
            try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'user-' || id")
            let connection = try await fixture.database.connect()
            try await connection.run(
                script: """
                    CREATE ROLE \(owner);
                    CREATE SCHEMA crm AUTHORIZATION \(owner);
                    GRANT USAGE ON SCHEMA crm TO pushmta_reader;
                    SET ROLE \(owner);
                    CREATE TABLE crm.number (key text PRIMARY KEY);
                    INSERT INTO crm.number SELECT 'user-' || g FROM generate_series(1, \(people)) g;
                    CREATE FUNCTION crm.act() RETURNS text LANGUAGE plpgsql AS $act$ \(body) $act$;
                    CREATE VIEW crm.person AS SELECT key, crm.act() AS did FROM crm.number;
                    GRANT SELECT ON crm.person TO pushmta_reader;
                    RESET ROLE;
                    INSERT INTO pushmta_engine.target_mapping (name, label, view_name, key_column)
                    VALUES ('m', '', 'crm.person', 'key');
                    """
            )
            await connection.close()
            try await fixture.store.setService(name: "shop", mapping: "m")
            return World(fixture: fixture, owner: owner)
        }

        /// The function's results for a child that loads a part.
        func loaded() async throws -> LoadedPart {
            _ = try await fixture.startedDelivery()
            try await fixture.prepare()
            let fields = try await fixture.store.resolve(
                MessageFields(names: ["mapping.did"]),
                application: try await fixture.store.application(named: "shop-ios")
            )
            return try await fixture.store.loadReadable(
                try required(try await fixture.claim().first),
                fields
            )
        }

        /// The state of a delivery whose filter reads the view.
        func decision(_ timeout: Duration? = nil) async throws -> PreparationDecision {
            _ = try await fixture.filteredDelivery("mapping.did is not null")
            let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
            do {
                _ = try await fixture.store.prepareChunk(job, timeout: timeout)
                return .passes
            } catch {
                return fixture.store.decision(on: error, of: job)
            }
        }
    }

    /// A statement that a function tries, with its result.
    private static func trying(_ statements: [String]) -> String {
        let tries = statements.map { statement in
            """
            BEGIN EXECUTE $try$ \(statement) $try$; said := said || ' done: \(statement.prefix(30).replacing("'", with: "''"));';
            EXCEPTION WHEN others THEN NULL; END;
            """
        }
        return
            "DECLARE said text := current_user || ':'; BEGIN \(tries.joined(separator: "\n")) RETURN said; END"
    }

    @Test("It has no other rights, and no way to get them")
    func rights() async throws {
        let world = try await World.make(
            Self.trying([
                "SET ROLE postgres", "RESET ROLE", "SET SESSION AUTHORIZATION DEFAULT",
                "SELECT set_config('role', 'none', false)", "SELECT sealed FROM pushmta_engine.credential",
                "SELECT * FROM pushmta_engine.delivery", "GRANT pushmta_runtime TO pushmta_reader",
                "UPDATE pushmta_engine.delivery SET state = 'stopped'", "CREATE TABLE crm.mine ()",
                "CREATE TEMP TABLE later (n integer)", "SELECT pg_read_file('/etc/passwd')",
                "INSERT INTO crm.number VALUES ('x')",
            ])
        )
        let loaded = try await world.loaded()
        #expect(loaded.count == 16 || loaded.count == 20)
        #expect(
            (0..<loaded.count).allSatisfy { loaded.fields[0].string($0) == "pushmta_reader:" },
            "\(loaded.fields[0].string(0))"
        )
        #expect(try await world.decision() == .passes)
        let members = "SELECT count(*) FROM pg_auth_members WHERE member = '\(world.owner)'::regrole"
        #expect(try await world.fixture.sql(members) == 0)
    }

    @Test("Its settings, locks, prepared statements and listens end with the read")
    func traces() async throws {
        let world = try await World.make(
            Self.trying([
                "SELECT set_config('search_path', 'crm', false)",
                "SELECT set_config('statement_timeout', '0', false)",
                "SELECT set_config('synchronous_commit', 'off', false)",
                "SELECT set_config('work_mem', '64kB', false)",
                "SELECT pg_advisory_lock(4711)", "SELECT pg_advisory_lock_shared(4712)",
                "PREPARE mine AS SELECT 1",
                "LISTEN pushmta_wake",
            ])
        )
        let fixture = world.fixture
        let loaded = try await world.loaded()
        #expect(loaded.fields[0].string(0).contains("done: SELECT pg_advisory_lock(4711)"), "it ran")
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid IN (4711, 4712)"
            ) == 0
        )
        // The next read uses the same session, which has been reset.
        let lists = try await fixture.store.views.read(
            """
            SELECT ARRAY[current_setting('statement_timeout'), current_setting('synchronous_commit'), current_setting('work_mem'),
                (SELECT count(*) FROM pg_prepared_statements)::text, (SELECT count(*) FROM pg_listening_channels())::text]
            """,
            userKeys: [],
            timeout: .seconds(7)
        )
        #expect(lists == [["7s", "on", "4MB", "0", "0"]])
    }

    @Test("A function that sleeps is cancelled in time")
    func sleeps() async throws {
        let world = try await World.make(
            "BEGIN PERFORM set_config('statement_timeout', '0', false); PERFORM pg_sleep(600); RETURN 'x'; END"
        )
        guard case .waits(let reason, isTimeout: true) = try await world.decision(.milliseconds(50))
        else {
            Issue.record("it was not given up")
            return
        }
        #expect(reason.contains("crm.person") && reason.contains("57014"))
    }

    @Test("A function that catches the cancellation loses its session in time, and its server process ends")
    func catches() async throws {
        let world = try await World.make(
            """
            BEGIN
                LOOP BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;
                RETURN 'x';
            END
            """
        )
        guard case .waits(let reason, isTimeout: true) = try await world.decision(.milliseconds(50)) else {
            Issue.record("it was not given up")
            return
        }
        #expect(reason.contains("crm.person") && reason.contains("session was terminated"), "\(reason)")
        let working = """
            SELECT count(*) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE '%read_view($1%' AND state = 'active' AND pid <> pg_backend_pid()
            """
        try await eventually("the server process ends") { try await world.fixture.sql(working) == 0 }
    }

    @Test("More data than a message can hold is refused before it is read")
    func large() async throws {
        let world = try await World.make("BEGIN RETURN repeat('x', 2000000); END")
        guard case .waits(let reason, isTimeout: false) = try await world.decision() else {
            Issue.record("it does not wait")
            return
        }
        #expect(reason.contains("more than 16 MiB for 20 people"), "\(reason)")
    }

    @Test("Values of many people are read in pieces if they are too large for one read")
    func inParts() async throws {
        let world = try await World.make("BEGIN RETURN repeat('x', 20000); END", people: 1_200)
        #expect(try await world.decision() == .passes)
        let messages = "SELECT target FROM pushmta_engine.delivery ORDER BY id DESC LIMIT 1"
        #expect(try await world.fixture.sql(messages) == 1_200)
    }

    @Test(
        "Whatever error it raises, the delivery waits, and nothing else is considered lost",
        arguments: ["PM007", "PM002", "25006", "08006", "57P01", "2F004", "P0001"]
    )
    func errors(_ state: String) async throws {
        let world = try await World.make(
            "BEGIN RAISE EXCEPTION 'secret' USING ERRCODE = '\(state)'; END"
        )
        guard case .waits(let reason, isTimeout: false) = try await world.decision() else {
            Issue.record("it does not wait")
            return
        }
        #expect(reason.contains("crm.person") && !reason.contains("secret"), "\(reason)")
        do {
            _ = try await world.loaded()
            Issue.record("it was loaded")
        } catch {
            let problem = LoadProblem(error)
            #expect(
                [.delivery, .part].contains(problem.scope) && !problem.text.contains("secret"),
                "\(problem)"
            )
        }
    }

    @Test("A read function that lost its owner does nothing, and the next migration restores it")
    func owner() async throws {
        let world = try await World.make("BEGIN RETURN 'x'; END")
        let fixture = world.fixture
        try await fixture.sql(
            "ALTER FUNCTION pushmta_engine.read_view(text, text[], boolean) OWNER TO postgres"
        )
        guard case .waits(let reason, isTimeout: false) = try await world.decision() else {
            Issue.record("it does not wait")
            return
        }
        #expect(reason.contains("belongs to postgres"), "\(reason)")
        #expect(try await fixture.store.missingRights().grants.count == 1)
        try await fixture.store.migrate()
        #expect(try await fixture.store.missingRights().grants == [])
        #expect(try await world.loaded().fields[0].string(0) == "x")
    }

    @Test("People who got a user key after the request are requested again")
    func late() async throws {
        let world = try await World.make("BEGIN RETURN 'x'; END")
        let fixture = world.fixture
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = '' WHERE id = 7")
        let id = try await fixture.filteredDelivery("mapping.did = 'x'")
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        var target = job.target
        target.people = try await fixture.store.mappedPeople(of: id, target, limit: 100, nil)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET user_key = 'user-7' WHERE id = 7")
        let chunk = PreparationChunk(job, partSize: 100, limit: 100, target: target)
        await #expect(throws: MappedPeople.Changed.self) {
            try await fixture.store.transaction(first: chunk.opening) { try await chunk.run($0, opened: $1) }
        }
        #expect(try await fixture.store.prepareChunk(job).messages == 20)
    }
}
