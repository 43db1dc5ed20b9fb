import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Health signals in the database")
struct HealthSignalTests {
    private static let source = HealthSignal(
        name: "load",
        kind: .http,
        source: "https://m.example/load",
        selector: "/a"
    )

    /// A delivery under way that follows a signal.
    private func followed(_ fixture: StoreFixture) async throws -> Int64 {
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 3)
        try await fixture.store.setHealthSignal(Self.source)
        let id = try await fixture.startedDelivery(["shop-ios"])
        try await fixture.store.followSignal(id, "load", target: 500, floor: 10, ceiling: 1_000)
        _ = try await fixture.prepare()
        return id
    }

    private func rate(_ fixture: StoreFixture) async throws -> Double {
        try required(try await fixture.store.rateLimitRows(limit: 10).first { $0.scope == "delivery" }).currentRate
    }

    private func read(_ fixture: StoreFixture, _ source: String) async throws -> Double? {
        try await fixture.store.readSignalFunction(source, timeout: .milliseconds(500))
    }

    /// The number of rows that a member of `pushmta_marketing` gets.
    private func asMarketing(_ fixture: StoreFixture, _ sql: String) async throws -> Int {
        try await fixture.store.transaction { transaction -> Int in
            try await transaction.execute(PostgresStatement("SET LOCAL ROLE pushmta_marketing", prepare: false))
            return try await transaction.execute(PostgresStatement(sql, prepare: false)).rowCount
        }
    }

    @Test("A delivery starts at its floor, and each value of the signal sets its rate")
    func followsValues() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await followed(fixture)
        #expect(try await rate(fixture) == 10)
        let before = try required(try await fixture.store.signal(ofDelivery: id))
        #expect(before.state == "stale" && before.value == nil && before.rate == 10)
        #expect(before.reason == "the signal has had no value yet, so the rate is at its floor")

        let due = try required(try await fixture.store.claimSignals().first)
        #expect(due.signal == Self.source)
        #expect(try await fixture.store.claimSignals().isEmpty, "another host does not read it, too")
        #expect(try required(try await fixture.store.timeToSignal()) <= .seconds(1))
        #expect(try await fixture.store.note(.value(320), of: due))
        var found = try await fixture.store.followers(of: due)
        let sample = try required(found.sample)
        #expect(sample.value == 320 && found.followers.map(\.deliveryID) == [id])
        #expect(found.followers[0].controller.rate == 10 && found.followers[0].sent(at: sample.at) == nil)
        found.followers[0].controller.handle(.sample(sample.value, sent: nil, at: sample.at))
        found.followers[0].controller.handle(.sample(sample.value, sent: nil, at: sample.at + .seconds(1)))
        let rising = found.followers[0].controller
        #expect(rising.rate > 10)
        #expect(try await fixture.store.setRates(of: due, found.followers) == 1)
        #expect(try await abs(rate(fixture) - rising.rate) < 1e-9)
        let after = try required(try await fixture.store.signal(ofDelivery: id))
        #expect(after.state == "rising" && after.value == 320 && after.reason.contains("below its target of 500"))

        // The next host goes on from there.
        let kept = try required(try await fixture.store.followers(of: due).followers.first).controller
        #expect(kept.state == .rising && kept.memory.load == rising.memory.load)
        let (one, other) = (try required(kept.memory.sampledAt), try required(rising.memory.sampledAt))
        #expect(abs((one - other) / .milliseconds(1)) < 1)
    }

    @Test("A read that another one has overtaken sets nothing")
    func fenced() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await followed(fixture)
        let old = try required(try await fixture.store.claimSignals().first)
        try await fixture.sql("UPDATE pushmta_engine.health_signal SET next_at = now()")
        let new = try required(try await fixture.store.claimSignals().first)
        #expect(try await !fixture.store.note(.value(1), of: old))
        #expect(try await fixture.store.note(.value(900), of: new))
        let found = try await fixture.store.followers(of: new)
        #expect(try await fixture.store.setRates(of: old, found.followers) == 0)
        #expect(try await fixture.store.setRates(of: new, found.followers) == 1)
    }

    @Test(
        "A session that changes one follower, or the signal, holds up neither the others nor the next read",
        .timeLimit(.minutes(2))
    )
    func locked() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await followed(fixture)
        let other = try await fixture.startedDelivery(["shop-ios"])
        try await fixture.store.followSignal(other, "load", target: 500, floor: 10, ceiling: 1_000)
        _ = try await fixture.prepare()
        let due = try required(try await fixture.store.claimSignals().first)
        #expect(try await fixture.store.note(.value(320), of: due))
        let found = try await fixture.store.followers(of: due)
        #expect(found.followers.count == 2)
        let holder = try await fixture.hold("SELECT pushmta.follow_signal(\(id), 'load', 400, 20, 900)")
        #expect(try await fixture.store.setRates(of: due, found.followers) == 1)
        // It ends while that session still holds it.
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET state = 'stopped', finished_at = now() WHERE id = \(id)"
        )
        try await fixture.sql("UPDATE pushmta_engine.health_signal SET next_at = now()")
        let next = try required(try await fixture.store.claimSignals().first)
        try await holder.run(script: "ROLLBACK")
        try await holder.run(
            script: "BEGIN; UPDATE pushmta_engine.health_signal SET reaction_seconds = 7, look = look + 1"
        )
        #expect(try await !fixture.store.note(.value(320), of: next))
        #expect(try await fixture.store.setRates(of: next, found.followers) == 0)
        try await holder.run(script: "ROLLBACK")
        await holder.close()
        #expect(try await fixture.store.note(.value(320), of: next))
    }

    @Test("If nobody reads the signal, the rate falls to its floor on its own, and an alarm says so")
    func falls() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await followed(fixture)
        let due = try required(try await fixture.store.claimSignals().first)
        _ = try await fixture.store.note(.value(1), of: due)
        var found = try await fixture.store.followers(of: due)
        let sample = try required(found.sample)
        for second in 0..<60 {
            found.followers[0].controller.handle(.sample(1, sent: nil, at: sample.at + .seconds(second)))
        }
        try await fixture.store.setRates(of: due, found.followers)
        #expect(try await rate(fixture) == 1_000)
        #expect(try await fixture.alarms("signal_stale").isEmpty)
        // Time passes.
        try await fixture.sql(
            """
            WITH a AS (UPDATE pushmta_engine.rate_limit SET fallback_at = fallback_at - interval '1 minute'),
                b AS (UPDATE pushmta_engine.delivery SET started_at = started_at - interval '2 minutes'),
                c AS (UPDATE pushmta_engine.delivery_signal SET followed_at = followed_at - interval '2 minutes')
            UPDATE pushmta_engine.health_signal SET sampled_at = sampled_at - interval '1 minute',
                changed_at = changed_at - interval '2 minutes', error = 'it timed out'
            """
        )
        #expect(try await rate(fixture) == 10)
        let row = try required(try await fixture.store.signal(ofDelivery: id))
        #expect(row.state == "stale" && row.rate == 10)
        let alarm = try required(try await fixture.alarms("signal_stale").first)
        #expect(alarm.subject == "load" && alarm.text.contains("it timed out") && alarm.text.contains("\(id)"))
        let limit = try required(
            try await fixture.store.rateLimits(RateScope(application: 1, account: 1), deliveries: [id]).first
        )
        #expect(try await fixture.store.takeRates([(limit.id, 100)]).first?.messagesPerSecond == 10)
        // The next reader begins at the floor.
        let stale = try await fixture.store.followers(of: due)
        #expect(stale.sample == nil && stale.followers.first?.controller.rate == 10)
    }

    @Test("Nobody reads a signal that no delivery under way follows")
    func unused() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await followed(fixture)
        #expect(try await fixture.store.timeToSignal() == .zero)
        try await fixture.store.pauseDelivery(id)
        #expect(try await fixture.store.timeToSignal() == nil)
        #expect(try await fixture.store.claimSignals().isEmpty)
        #expect(try await fixture.store.signal(ofDelivery: id)?.state == "idle")
        try await fixture.store.resumeDelivery(id)
        #expect(try await fixture.store.claimSignals().count == 1)
        try await fixture.store.stopDelivery(id)
        #expect(try await fixture.store.claimSignals().isEmpty)
    }

    @Test("The rate is the signal's until the delivery leaves it, and a copy follows it, too")
    func left() async throws {
        let fixture = try await StoreFixture.make()
        let id = try await followed(fixture)
        await #expect(throws: StoreError.self) { try await fixture.store.setDeliveryRate(id, messagesPerSecond: 5) }
        await #expect(throws: StoreError.self) { try await fixture.store.dropHealthSignal("load") }
        let copy = try await fixture.store.copyDelivery(id, label: "copy")
        #expect(try await fixture.store.signal(ofDelivery: copy)?.floor == 10)
        try await fixture.store.leaveSignal(copy)
        try await fixture.store.leaveSignal(id)
        #expect(try await fixture.store.signal(ofDelivery: id) == nil)
        #expect(try await rate(fixture) == 10, "the present rate stays")
        try await fixture.store.setDeliveryRate(id, messagesPerSecond: 5)
        try await fixture.store.dropHealthSignal("load")
        #expect(try await fixture.store.healthSignals().isEmpty)
        let follows = try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.audit_log WHERE action = 'delivery.follow'"
        )
        #expect(follows == 3)
    }

    @Test("A function is called as a role without rights, read-only and with a time limit")
    func function() async throws {
        let fixture = try await StoreFixture.make()
        let connection = try await fixture.database.connect()
        try await connection.run(
            script: """
                CREATE SCHEMA backend; GRANT USAGE ON SCHEMA backend TO pushmta_signal;
                CREATE TABLE backend.load (value double precision); INSERT INTO backend.load VALUES (0.25);
                CREATE FUNCTION backend.load() RETURNS double precision LANGUAGE sql SECURITY DEFINER AS 'SELECT value FROM backend.load';
                CREATE FUNCTION backend.deliveries() RETURNS bigint LANGUAGE plpgsql
                    AS 'BEGIN RETURN (SELECT count(*) FROM pushmta_engine.delivery); END';
                CREATE FUNCTION backend.slow() RETURNS integer LANGUAGE sql VOLATILE AS 'SELECT 1 FROM pg_sleep(60)';
                CREATE FUNCTION backend.writes() RETURNS integer LANGUAGE sql SECURITY DEFINER
                    AS 'INSERT INTO backend.load VALUES (1) RETURNING 1';
                CREATE FUNCTION backend.hidden() RETURNS integer LANGUAGE sql AS 'SELECT 1';
                CREATE FUNCTION backend.words() RETURNS text LANGUAGE sql AS $$ SELECT '1' $$;
                REVOKE ALL ON FUNCTION backend.hidden() FROM PUBLIC
                """
        )
        await connection.close()
        #expect(try await read(fixture, "backend.load()") == 0.25)
        for source in [
            "backend.deliveries()", "backend.slow()", "backend.writes()", "backend.hidden()", "backend.none()",
        ] {
            await #expect(throws: PostgresError.self, "\(source)") { _ = try await read(fixture, source) }
        }
        #expect(try await read(fixture, "backend.load()") == 0.25, "a failed read does not disturb the next one")
        for source in ["backend.hidden()", "backend.words()", "backend.none()", "backend.load() + 1", "load()"] {
            await #expect(throws: StoreError.self, "\(source)") {
                try await fixture.store.setHealthSignal(HealthSignal(name: "f", kind: .sql, source: source))
            }
        }
        try await fixture.store.setHealthSignal(HealthSignal(name: "f", kind: .sql, source: "backend.load()"))
        #expect(try await fixture.store.healthSignals().map(\.signal.name) == ["f"])
    }

    @Test(arguments: [
        "set_health_signal('', 'http', 'https://m')", "set_health_signal('a', 'ftp', 'https://m')",
        "set_health_signal('a', 'http', 'ftp://m')", "set_health_signal('a', 'http', 'https://u@m/')",
        "set_health_signal('a', 'http', 'https://m/ a')", "set_health_signal('a', 'http', 'https://m', 'load')",
        "set_health_signal('a', 'prometheus', 'https://m')",
        "set_health_signal('a', 'prometheus', 'https://m?a=1', 'up')",
        "set_health_signal('a', 'http', 'https://m', good => 'up')", "set_health_signal('a', 'http', NULL)",
        "set_health_signal('a', 'http', 'https://m', interval_seconds => 0)",
        "set_health_signal('a', 'http', 'https://m', timeout_ms => 1001)",
        "set_health_signal('a', 'http', 'https://m', stale_after_seconds => 1)",
        "set_health_signal('a', 'http', 'https://m', reaction_seconds => NULL)",
        "follow_signal(1, 'none', 1, 1, 1)", "follow_signal(99999999, NULL)", "drop_health_signal('none')",
    ])
    func whatIsNotValidIsRefused(_ call: String) async throws {
        let fixture = try await StoreFixture.make()
        _ = try await fixture.startedDelivery(["shop-ios"])
        await #expect(throws: StoreError.self, "\(call)") { try await fixture.store.query("SELECT pushmta.\(call)") }
    }

    @Test(arguments: ["0, 1, 2", "'NaN', 1, 2", "1, 0, 2", "1, 3, 2", "1, NULL, 2", "1, 1, 'Infinity'", "NULL, 1, 2"])
    func limitsThatAreNoneAreRefused(_ limits: String) async throws {
        let fixture = try await StoreFixture.make()
        let id = try await followed(fixture)
        await #expect(throws: StoreError.self, "\(limits)") {
            try await fixture.store.query("SELECT pushmta.follow_signal(\(id), 'load', \(limits))")
        }
    }

    @Test("Marketing systems see a signal's value, not its address")
    func marketing() async throws {
        let fixture = try await StoreFixture.make()
        _ = try await followed(fixture)
        #expect(try await asMarketing(fixture, "SELECT name, value, stale FROM pushmta.health_signal") == 1)
        #expect(try await asMarketing(fixture, "SELECT * FROM pushmta.delivery_signal") == 1)
        await #expect(throws: (any Error).self) {
            _ = try await asMarketing(fixture, "SELECT source FROM pushmta.health_signal")
        }
        await #expect(throws: (any Error).self) {
            _ = try await asMarketing(fixture, "SELECT pushmta.set_health_signal('x', 'http', 'https://m')")
        }
    }
}
