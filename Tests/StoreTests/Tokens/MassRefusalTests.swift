import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("More dead tokens at once than a fleet normally loses")
struct MassRefusalTests {
    /// A delivery with this many refused messages; the others were sent. All are in one batch.
    private func refused(
        _ number: Int,
        of messages: Int64,
        on fixture: StoreFixture? = nil,
        reason: String = "Unregistered",
        since: Int64? = nil
    ) async throws -> StoreFixture {
        var made = fixture
        if let fixture {
            _ = try await fixture.startedDelivery()
            _ = try await fixture.prepare()
        } else {
            made = try await StoreFixture.prepared(messages: messages, partSize: 1_000).0
        }
        let fixture = try required(made)
        var batch = OutcomeBatch()
        for part in try await fixture.claim(limit: 100) {
            let loaded = try await fixture.store.loadPart(part, fieldNames: [])
            for row in 0..<loaded.count {
                let isRefused = batch.count < number
                batch.append(
                    part: part.id,
                    token: part.fencingToken,
                    sequence: loaded.sequences[row],
                    subscriptionID: loaded.subscriptionIDs[row],
                    status: isRefused ? .failed : .sent,
                    httpStatus: isRefused ? 410 : 200,
                    reason: isRefused ? reason : "",
                    tokenEffect: isRefused ? .invalid(sinceMilliseconds: since) : .none
                )
            }
        }
        _ = try await fixture.store.storeOutcomes(batch)
        return fixture
    }

    private func events(_ fixture: StoreFixture, _ state: String) async throws -> Int64 {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event WHERE state = '\(state)'") ?? -1
    }

    private func enabled(_ fixture: StoreFixture) async throws -> Int64 {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE exclusion = 0") ?? -1
    }

    /// Simulates the passing of time for unconfirmed tokens.
    private func pass(_ fixture: StoreFixture, _ time: String) async throws {
        for (table, columns) in [
            ("token_event", ["created_at", "since"]), ("token_refusal", ["created_at"]),
            ("token_doubt", ["began_at", "seen_at", "first_at"]),
            ("subscription", ["registered_at"]),
        ] {
            let changes = columns.map { "\($0) = \($0) - interval '\(time)'" }.joined(separator: ", ")
            try await fixture.sql("UPDATE pushmta_engine.\(table) SET \(changes)")
        }
    }

    @Test("A whole fleet is not disabled: the messages end, the tokens wait, and one command undoes or confirms all")
    func whole() async throws {
        for confirmed in [false, true] {
            let fixture = try await refused(100, of: 100)
            while try await fixture.store.applyTokenEvents() > 0 {}
            #expect(try await events(fixture, "doubted") == 100)
            #expect(try await enabled(fixture) == 100)
            let alarm = try required(try await fixture.alarms("tokens_doubted").first)
            #expect(alarm.severity == .critical && alarm.remedy.contains("pushmta quarantine doubted shop-ios --undo"))
            let resolved = try await fixture.store.resolveDoubtedTokens(application: "shop-ios", confirmed: confirmed)
            #expect(resolved == 100)
            #expect(try await enabled(fixture) == (confirmed ? 0 : 100))
            #expect(try await events(fixture, confirmed ? "applied" : "undone") == 100)
            #expect(try await fixture.alarms("tokens_doubted").isEmpty)
        }
    }

    @Test("A normal share of losses is applied, and so are a few losses, whatever their share")
    func usual() async throws {
        for (number, messages) in [(100, Int64(600)), (15, 15)] {
            let fixture = try await refused(number, of: messages)
            while try await fixture.store.applyTokenEvents() > 0 {}
            #expect(try await events(fixture, "applied") == Int64(number))
            #expect(try await enabled(fixture) == messages - Int64(number))
        }
    }

    @Test("Tokens disabled before the number was known are restored")
    func early() async throws {
        let fixture = try await refused(100, of: 400)
        try await fixture.sql("UPDATE pushmta_engine.token_refusal SET answered = 100000")
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await enabled(fixture) == 300)
        try await fixture.sql("UPDATE pushmta_engine.token_refusal SET answered = 100")
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, sequence, reason)
            SELECT e.application_id, max(s.id), 'invalid', min(e.delivery_id), 1, 'Unregistered'
            FROM pushmta_engine.token_event e CROSS JOIN pushmta_engine.subscription s WHERE s.enabled GROUP BY 1
            """
        )
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await enabled(fixture) == 400)
        #expect(try await events(fixture, "doubted") == 101)
    }

    @Test("Ten seconds of a busy minute are detected, and so is a loss that an application never had before")
    func briefly() async throws {
        let fixture = try await refused(100, of: 100)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_refusal (application_id, refused, answered, created_at)
            SELECT application_id, 0, 100000, now() - interval '20 seconds' FROM pushmta_engine.token_refusal
            """
        )
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await events(fixture, "doubted") == 100)

        let other = try await refused(100, of: 1_000)
        try await other.sql(
            "INSERT INTO pushmta_engine.token_refusal_past (application_id, refused, answered) VALUES (1, 100, 1000000)"
        )
        while try await other.store.applyTokenEvents() > 0 {}
        #expect(try await events(other, "doubted") == 100)
    }

    @Test("The application's own past is the measure")
    func past() async throws {
        let fixture = try await refused(300, of: 1_000)
        try await fixture.sql(
            "INSERT INTO pushmta_engine.token_refusal_past (application_id, refused, answered) VALUES (1, 3000, 20000)"
        )
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await events(fixture, "applied") == 300, "it has lost 15 % before")
    }

    /// Data older than ten minutes becomes the past; returns the number of refusals in it.
    private func pastRefusals(_ fixture: StoreFixture) async throws -> Int64 {
        try await pass(fixture, "11 minutes")
        try await fixture.sql("SELECT count(*) FROM (SELECT pushmta_engine.fold_token_refusals()) x")
        return try await fixture.sql("SELECT coalesce(sum(refused), 0)::bigint FROM pushmta_engine.token_refusal_past")
            ?? -1
    }

    @Test("Refusals of an unconfirmed time never become the past, whatever is decided", arguments: [false, true])
    func notThePast(_ confirmed: Bool) async throws {
        let fixture = try await refused(100, of: 100)
        while try await fixture.store.applyTokenEvents() > 0 {}
        try await pass(fixture, "2 minutes")
        #expect(try await fixture.store.resolveDoubtedTokens(application: "shop-ios", confirmed: confirmed) == 100)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_doubt") == 0)
        #expect(try await pastRefusals(fixture) == 0)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_refusal") == 0)
    }

    @Test("Rows that others lock are skipped, and do not take the place of other rows")
    func heldRows() async throws {
        let fixture = try await refused(100, of: 100)
        while try await fixture.store.applyTokenEvents() > 0 {}
        let other = try await fixture.database.connect()
        try await other.run(script: "BEGIN; SELECT FROM pushmta_engine.subscription WHERE id <= 10 FOR UPDATE")
        let step = "SELECT pushmta.resolve_doubted_tokens('shop-ios', true, 5)"
        #expect(try await fixture.sql(step) == 5)
        let heldSQL = "SELECT count(*) FROM pushmta_engine.subscription WHERE id <= 10"
        let held = try required(try await fixture.sql(heldSQL))
        do {
            _ = try await fixture.store.resolveDoubtedTokens(application: "shop-ios", confirmed: true)
            Issue.record("nothing was left")
        } catch let error as StoreError {
            let words = "\(95 - held) answers about tokens are decided; \(held) are left"
            #expect(error.message.contains(words), "\(error)")
        }
        try await other.run(script: "ROLLBACK")
        await other.close()
        let rest = try await fixture.store.resolveDoubtedTokens(application: "shop-ios", confirmed: true)
        #expect(rest == Int(held))
        #expect(try await enabled(fixture) == 0)
    }

    @Test("A decision stays, whatever is refused a moment later", arguments: [false, true])
    func decided(_ confirmed: Bool) async throws {
        let fixture = try await refused(100, of: 100)
        while try await fixture.store.applyTokenEvents() > 0 {}
        try await pass(fixture, "2 minutes")
        _ = try await fixture.store.resolveDoubtedTokens(application: "shop-ios", confirmed: confirmed)
        try await fixture.sql(
            """
            WITH x AS (INSERT INTO pushmta_engine.token_refusal (application_id, refused, answered)
                SELECT a.id, 1, 1 FROM pushmta_engine.application a WHERE a.name = 'shop-ios' RETURNING 1) SELECT count(*) FROM x
            """
        )
        try await fixture.sql("SELECT count(*) FROM (SELECT pushmta_engine.judge_token_refusals()) x")
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_doubt") == 0)
        #expect(try await enabled(fixture) == (confirmed ? 0 : 100))
    }

    @Test("Few messages count too if all are refused for minutes, but not if as many are accepted")
    func slowly() async throws {
        for taken in [0, 400] {
            let fixture = try await StoreFixture.make()
            for minute in 0..<4 {
                // The record of a batch of outcomes: six refusals, and the acceptances since the previous ones.
                try await fixture.sql(
                    """
                    WITH x AS (INSERT INTO pushmta_engine.token_refusal (created_at, application_id, refused, answered)
                        SELECT now() - interval '\(3 - minute) minutes', a.id, 6, 6 + \(taken) FROM pushmta_engine.application a
                        WHERE a.name = 'shop-ios' RETURNING 1) SELECT count(*) FROM x
                    """
                )
            }
            try await fixture.sql("SELECT count(*) FROM (SELECT pushmta_engine.judge_token_refusals()) x")
            let doubts = try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_doubt")
            #expect(doubts == (taken == 0 ? 1 : 0))
        }
    }

    @Test("They do not if refusals come in masses again before they are old")
    func twice() async throws {
        let fixture = try await refused(100, of: 100)
        while try await fixture.store.applyTokenEvents() > 0 {}
        try await pass(fixture, "5 minutes")
        _ = try await refused(100, of: 100, on: fixture)
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.token_doubt WHERE began_at > now() - interval '4 minutes'"
            ) == 1
        )
        #expect(try await pastRefusals(fixture) == 0)
    }

    @Test("A second refusal six hours later confirms a token as dead, a message that gets through clears it")
    func second() async throws {
        let fixture = try await refused(100, of: 100)
        while try await fixture.store.applyTokenEvents() > 0 {}
        try await pass(fixture, "7 hours")
        // All of them get the next delivery: 60 are refused again, as a mass, and 40 get through.
        _ = try await refused(60, of: 100, on: fixture)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id, sequence)
            SELECT b.application_id, b.id, 'success', 1, 1 FROM pushmta_engine.subscription b
            WHERE b.id NOT IN (SELECT e.subscription_id FROM pushmta_engine.token_event e WHERE e.state = 'pending')
            """
        )
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await enabled(fixture) == 40)
        #expect(try await events(fixture, "doubted") == 0)
    }

    @Test("An earlier second refusal stays unconfirmed, although the masses are over, and counts once")
    func secondTooEarly() async throws {
        let fixture = try await refused(100, of: 100)
        while try await fixture.store.applyTokenEvents() > 0 {}
        try await pass(fixture, "3 minutes")
        _ = try await refused(10, of: 100, on: fixture)
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await enabled(fixture) == 100)
        #expect(try await events(fixture, "doubted") == 100)
        #expect(try await events(fixture, "outdated") == 10)
        try await pass(fixture, "7 hours")
        _ = try await refused(10, of: 100, on: fixture)
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await enabled(fixture) == 90)
        #expect(try await events(fixture, "doubted") == 90)
    }

    @Test("A second refusal confirms if its time is before all unconfirmed masses", arguments: [false, true])
    func secondDated(_ before: Bool) async throws {
        let fixture = try await refused(0, of: 100)
        try await pass(fixture, "30 days")
        _ = try await refused(100, of: 100, on: fixture)
        while try await fixture.store.applyTokenEvents() > 0 {}
        try await pass(fixture, "3 hours")
        // A second incident; the gateway's time may lie between it and the first.
        _ = try await refused(100, of: 100, on: fixture)
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await events(fixture, "doubted") == 100)
        try await pass(fixture, "3 minutes")
        let age = before ? "3 days" : "1 hour"
        let since: Int64 = try required(
            try await fixture.sql("SELECT (extract(epoch FROM now() - interval '\(age)') * 1000)::bigint")
        )
        _ = try await refused(10, of: 100, on: fixture, since: since)
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await enabled(fixture) == (before ? 90 : 100))
    }

    @Test("A 410 with a time after the registration and before the masses needs no confirmation")
    func dated() async throws {
        let fixture = try await refused(0, of: 100)
        try await pass(fixture, "30 days")
        let since: Int64 = try required(
            try await fixture.sql("SELECT (extract(epoch FROM now() - interval '3 days') * 1000)::bigint")
        )
        _ = try await refused(100, of: 100, on: fixture, since: since)
        while try await fixture.store.applyTokenEvents() > 0 {}
        #expect(try await enabled(fixture) == 0)
    }

    @Test("Unconfirmed tokens do not heal with time, however short the healing time: they can still be confirmed")
    func notHealed() async throws {
        let fixture = try await refused(100, of: 100)
        while try await fixture.store.applyTokenEvents() > 0 {}
        // Half of them have soft errors, too.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.subscription SET last_error_at = now() - interval '2 days',
                soft_errors = CASE WHEN id % 2 = 0 THEN 1 ELSE 0 END
            """
        )
        var rules = QuarantineSettings()
        rules.healingDays = 1
        #expect(try await fixture.store.applyTokenEvents(rules: rules) == 0)
        #expect(
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE quarantine_status = 1") == 100
        )
        #expect(try await fixture.store.resolveDoubtedTokens(application: "shop-ios", confirmed: true) == 100)
        #expect(try await enabled(fixture) == 0)
        #expect(try await events(fixture, "applied") == 100)
    }

    @Test("Tokens that stay unconfirmed are decided after days, as the setting says", arguments: [true, false])
    func unanswered(_ believes: Bool) async throws {
        let fixture = try await refused(100, of: 100)
        while try await fixture.store.applyTokenEvents() > 0 {}
        try await pass(fixture, "73 hours")
        var rules = QuarantineSettings()
        rules.believesDoubted = believes
        while try await fixture.store.applyTokenEvents(rules: rules) > 0 {}
        #expect(try await enabled(fixture) == (believes ? 0 : 100))
        #expect(try await events(fixture, "doubted") == 0)
    }
}
