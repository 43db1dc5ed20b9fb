import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Token events")
struct TokenEventTests {
    /// A delivery of which the first messages were refused for their tokens.
    private func refused(_ number: Int = 5, messages: Int64 = 20) async throws -> (StoreFixture, Int64) {
        let (fixture, id) = try await StoreFixture.prepared(messages: messages, partSize: 1000)
        var batch = OutcomeBatch()
        for part in try await fixture.claim(limit: 100) {
            let loaded = try await fixture.store.loadPart(part, fieldNames: [])
            for row in 0..<loaded.count where batch.count < number {
                batch.append(
                    part: part.id,
                    token: 1,
                    sequence: loaded.sequences[row],
                    subscriptionID: loaded.subscriptionIDs[row],
                    status: .failed,
                    httpStatus: 400,
                    reason: "BadDeviceToken",
                    tokenEffect: .invalid(sinceMilliseconds: nil)
                )
            }
        }
        _ = try await fixture.store.storeOutcomes(batch)
        return (fixture, id)
    }

    private func enabled(_ fixture: StoreFixture) async throws -> Int64 {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE exclusion = 0") ?? -1
    }

    private func events(_ fixture: StoreFixture, _ state: String) async throws -> Int64 {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event WHERE state = '\(state)'") ?? -1
    }

    @Test("A lost owner's report about a token does not override the new owner's answer")
    func ofALostOwner() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 1000)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var late = OutcomeBatch()
        for row in 0..<3 {
            late.append(
                part: part.id,
                token: 1,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .failed,
                httpStatus: 400,
                reason: "BadDeviceToken",
                tokenEffect: .invalid(sinceMilliseconds: nil)
            )
        }
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: 1), ambiguousThroughMark: true))
        _ = try required(try await fixture.claim().first)
        var sent = OutcomeBatch()
        for row in 0..<2 {
            sent.append(
                part: part.id,
                token: 2,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .sent
            )
        }
        _ = try await fixture.store.storeOutcomes(sent)
        let report = try await fixture.other.storeOutcomes(late)
        #expect(report.inserted == 1 && report.late == 1, "the third message has no other outcome")
        #expect(try await events(fixture, "pending") == 1)
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await enabled(fixture) == 19)
        #expect(try await fixture.other.storeOutcomes(late).inserted == 0)
        #expect(try await events(fixture, "pending") == 0, "a repeat brings no second event")
    }

    @Test("A refused token disables its subscription unless it was registered again, and this can be undone")
    func applied() async throws {
        let (fixture, id) = try await refused()
        try await fixture.sql("UPDATE pushmta_engine.subscription SET registered_at = now() WHERE id = 2")
        try await fixture.sql("DELETE FROM pushmta_engine.subscription WHERE id = 3")
        #expect(try await fixture.store.applyTokenEvents(limit: 2) == 2)
        #expect(try await fixture.store.applyTokenEvents() == 3)
        #expect(try await fixture.store.applyTokenEvents() == 0)
        #expect(try await enabled(fixture) == 16)
        #expect(try await events(fixture, "applied") == 3)
        #expect(try await events(fixture, "outdated") == 2)
        // One returns with a new user, one is disabled for another reason: both stay unchanged.
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key)
            SELECT application_id, push_token, 'other' FROM pushmta_engine.subscription WHERE id = 4
            """
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET disabled_at = now(), disabled_reason = 'token_moved' WHERE id = 5"
        )
        #expect(try await fixture.store.undoTokenEvents(delivery: id) == 3)
        #expect(try await fixture.store.undoTokenEvents(delivery: id) == 0)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.subscription WHERE id = 1 AND enabled AND quarantine_status = 0 AND disabled_at IS NULL"
            ) == 1
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.subscription WHERE NOT enabled") == 2)
        #expect(try await enabled(fixture) == 18)
        let counts = try await fixture.store.tokenEventCounts()
        #expect(
            counts.count == 1 && counts[0].undone == 3 && counts[0].outdated == 2 && counts[0].application == "shop-ios"
        )
        #expect(try await fixture.store.tokenEventCounts(delivery: 99).isEmpty)
        await #expect { try await fixture.store.undoTokenEvents(delivery: 99) } throws: {
            ($0 as? StoreError)?.code == .notFound
        }
    }

    @Test(
        "A token registered after the claim is a new one, whatever time the gateway gives; an earlier one counts"
    )
    func registeredSinceTheClaim() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 1000)
        try await fixture.sql("UPDATE pushmta_engine.subscription SET registered_at = now() - interval '1 hour'")
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        let now = part.claimedAt.microsecondsSince1970 / 1_000
        // The first has got another token since the claim, the second is as it was, the third was registered before the claim and
        // after the gateway's time.
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET registered_at = clock_timestamp() WHERE id = \(loaded.subscriptionIDs[0])"
        )
        var batch = OutcomeBatch()
        for (row, since) in [(0, now + 60_000), (1, now + 60_000), (2, now - 7_200_000)] {
            batch.append(
                part: part.id,
                token: 1,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .failed,
                httpStatus: 410,
                reason: "Unregistered",
                tokenEffect: .invalid(sinceMilliseconds: since)
            )
        }
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.store.applyTokenEvents() == 3)
        #expect(try await events(fixture, "applied") == 1)
        let disabled = try await fixture.sql("SELECT id FROM pushmta_engine.subscription WHERE NOT enabled")
        #expect(disabled == loaded.subscriptionIDs[1])
    }

    @Test("A token that two deliveries find dead is disabled once")
    func twice() async throws {
        let (fixture, id) = try await refused(1)
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, delivery_id)
            SELECT application_id, subscription_id, kind, NULL FROM pushmta_engine.token_event
            """
        )
        #expect(try await fixture.store.applyTokenEvents() == 2)
        #expect(try await events(fixture, "applied") == 1)
        #expect(try await fixture.store.undoTokenEvents(delivery: id) == 1)
        #expect(try await enabled(fixture) == 20)
    }

    @Test(
        "While effects are held nothing is disabled; closing the circuit undoes held and later events"
    )
    func held() async throws {
        let (fixture, _) = try await refused()
        let store = fixture.store
        try await store.openCircuit(application: 1, reason: "doubtful", remedy: "check", holdsTokenEffects: true)
        #expect(try await events(fixture, "held") == 5)
        for _ in 0..<2 {
            try await fixture.sql(
                "INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, part_id) VALUES (1, 9, 'invalid', 1), (2, 9, 'invalid', 1)"
            )
            #expect(try await store.applyTokenEvents() >= 1)
        }
        #expect(try await events(fixture, "held") == 7)
        try await fixture.sql("UPDATE pushmta_engine.token_event SET state = 'pending' WHERE id = 1")
        try await store.openCircuit(application: 1, reason: "again", remedy: "check")
        #expect(try await store.applicationHealth().first?.tokenEffectsHeld == true)
        try await store.closeCircuit(application: 1)
        #expect(try await events(fixture, "undone") == 7)
        #expect(try await enabled(fixture) == 19, "the event of the other application was applied")
        try await fixture.sql(
            "INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind) VALUES (1, 7, 'invalid')"
        )
        #expect(try await store.applyTokenEvents() == 1)
        #expect(try await events(fixture, "applied") == 2)
    }

    @Test("Two hosts apply events in parallel, each event once, and neither waits for a locked subscription")
    func hosts() async throws {
        let (fixture, id) = try await refused(500, messages: 500)
        // Among other messages, because this many dead tokens alone would be unconfirmed.
        try await fixture.sql("UPDATE pushmta_engine.token_refusal SET answered = 100000")
        let holder = try await fixture.hold("SELECT 1 FROM pushmta_engine.subscription WHERE id <= 10 FOR UPDATE")
        let database = fixture.database
        let decided = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let store = Store(configuration: database.configuration())
                    var sum = 0
                    for _ in 0..<40 { sum += try await store.applyTokenEvents(limit: 40) }
                    await store.close()
                    return sum
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(decided == 490)
        try await holder.run(script: "ROLLBACK")
        #expect(try await fixture.store.applyTokenEvents() == 10)
        #expect(try await enabled(fixture) == 0)
        #expect(try await events(fixture, "applied") == 500)
        #expect(try await fixture.store.undoTokenEvents(delivery: id) == 500)
        #expect(try await enabled(fixture) == 500)
    }

    @Test("An undo waits for events that are being applied", .timeLimit(.minutes(2)))
    func undoRace() async throws {
        let (fixture, id) = try await refused()
        try await fixture.during("SELECT pushmta_engine.apply_token_effects(100, 5, '1 day', '10 days')") {
            let undone = try await fixture.other.undoTokenEvents(delivery: id)
            #expect(undone == 5)
        }
        #expect(try await enabled(fixture) == 20)
        #expect(try await events(fixture, "undone") == 5)
    }
}
