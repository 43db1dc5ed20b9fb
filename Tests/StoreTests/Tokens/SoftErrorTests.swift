import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Soft errors of tokens")
struct SoftErrorTests {
    /// A prepared delivery to this many subscriptions, registered long ago.
    private func prepared(_ messages: Int64 = 4) async throws -> (StoreFixture, Int64) {
        let (fixture, id) = try await StoreFixture.prepared(messages: messages, partSize: 1000)
        try await fixture.sql(
            "UPDATE pushmta_engine.subscription SET registered_at = now() - interval '100 days'"
        )
        return (fixture, id)
    }

    /// Soft errors of a subscription this many hours ago.
    private func errors(_ fixture: StoreFixture, _ subscription: Int, hoursAgo: [Int], delivery: Int64? = nil)
        async throws
    {
        for hours in hoursAgo {
            try await fixture.sql(
                """
                INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, reason, created_at, delivery_id)
                VALUES (1, \(subscription), 'soft_error', 'TooManyRequests', now() - \(hours) * interval '1 hour',
                    \(delivery.map(String.init) ?? "NULL"))
                """
            )
        }
    }

    private func has(_ fixture: StoreFixture, _ subscription: Int, _ condition: String) async throws -> Bool {
        try await fixture.sql(
            "SELECT count(*) FROM pushmta_engine.subscription WHERE id = \(subscription) AND \(condition)"
        ) == 1
    }

    private func events(_ fixture: StoreFixture, _ state: String) async throws -> Int64? {
        try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event WHERE state = '\(state)'")
    }

    @Test("Five soft errors, each more than a day after the last one that counted, quarantine a subscription")
    func quarantine() async throws {
        let (fixture, _) = try await prepared()
        try await errors(fixture, 1, hoursAgo: [100, 75, 74, 50, 25])
        #expect(try await fixture.store.applyTokenEvents() == 5)
        #expect(try await has(fixture, 1, "quarantine_status = 1 AND soft_errors = 4 AND exclusion = 0"))
        #expect(try await events(fixture, "outdated") == 1, "an hour after another one")
        try await errors(fixture, 1, hoursAgo: [0])
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(
            try await has(
                fixture,
                1,
                "quarantine_status = 2 AND soft_errors = 5 AND exclusion = 3 AND enabled AND quarantine_reason = 'TooManyRequests'"
            )
        )
        try await errors(fixture, 1, hoursAgo: [0])
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await has(fixture, 1, "soft_errors = 5"))
        #expect(try await has(fixture, 2, "quarantine_status = 0"))
    }

    @Test("Threshold, delay and healing are settings")
    func rules() async throws {
        let (fixture, _) = try await prepared()
        var rules = QuarantineSettings()
        rules.maxSoftErrors = 2
        rules.significantErrorDelaySec = 1_800
        rules.healingDays = 2
        try await errors(fixture, 1, hoursAgo: [2, 1])
        try await errors(fixture, 2, hoursAgo: [80, 1])
        try await errors(fixture, 3, hoursAgo: [50])
        #expect(try await fixture.store.applyTokenEvents(rules: rules) == 5)
        #expect(try await fixture.store.applyTokenEvents(rules: rules) == 1, "a healing")
        #expect(try await has(fixture, 1, "quarantine_status = 2"))
        #expect(try await has(fixture, 2, "quarantine_status = 1 AND soft_errors = 1"), "the first was forgotten")
        #expect(try await has(fixture, 3, "quarantine_status = 0 AND soft_errors = 0"))
    }

    @Test("Ten days without an error heal a subscription, but not from quarantine")
    func time() async throws {
        let (fixture, _) = try await prepared()
        try await errors(fixture, 1, hoursAgo: [241])
        try await errors(fixture, 2, hoursAgo: [239])
        try await errors(fixture, 3, hoursAgo: [370, 340, 310, 280, 250])
        #expect(try await fixture.store.applyTokenEvents() == 7)
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await has(fixture, 1, "quarantine_status = 0 AND soft_errors = 0 AND quarantine_reason = ''"))
        #expect(try await has(fixture, 2, "quarantine_status = 1 AND soft_errors = 1"))
        #expect(try await has(fixture, 3, "quarantine_status = 2"))
        #expect(try await fixture.store.applyTokenEvents() == 0)
    }

    @Test("The load reports subscriptions with errors, and a message that gets through heals them")
    func success() async throws {
        let (fixture, _) = try await prepared()
        try await errors(fixture, 2, hoursAgo: [50, 25])
        try await errors(fixture, 3, hoursAgo: [370, 340, 310, 280, 250])
        #expect(try await fixture.store.applyTokenEvents() == 7)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        #expect(loaded.decisions == [.sendable, .sendableWithErrors, .quarantined, .sendable])
        #expect(loaded.decisions.map(\.isSendable) == [true, true, false, true])
        #expect(loaded.decisions.map(\.reason) == ["", "", "quarantined", ""])
        var batch = OutcomeBatch()
        for row in [0, 1] {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .sent,
                httpStatus: 200,
                healsErrors: loaded.decisions[row] == .sendableWithErrors
            )
        }
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await events(fixture, "pending") == 1, "only where there is something to heal")
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await has(fixture, 2, "quarantine_status = 0 AND soft_errors = 0"))
        try await errors(fixture, 2, hoursAgo: [0])
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await has(fixture, 2, "soft_errors = 1"), "the count begins anew")
    }

    @Test("Errors from before a registration, of disabled and of unknown subscriptions do not count")
    func outdated() async throws {
        let (fixture, _) = try await prepared()
        try await fixture.sql("UPDATE pushmta_engine.subscription SET registered_at = now() WHERE id = 1")
        try await fixture.sql("UPDATE pushmta_engine.subscription SET enabled = false WHERE id = 2")
        for id in [1, 2, 99] { try await errors(fixture, id, hoursAgo: [1]) }
        #expect(try await fixture.store.applyTokenEvents() == 3)
        #expect(try await events(fixture, "outdated") == 3)
        #expect(try await fixture.sql("SELECT sum(soft_errors) FROM pushmta_engine.subscription") == 0)
    }

    @Test("They are held, released and undone like refused tokens")
    func guards() async throws {
        let (fixture, id) = try await prepared()
        try await errors(fixture, 1, hoursAgo: [2], delivery: id)
        try await fixture.store.openCircuit(application: 1, reason: "x", remedy: "y", holdsTokenEffects: true)
        #expect(try await events(fixture, "held") == 1)
        try await errors(fixture, 2, hoursAgo: [1], delivery: id)
        #expect(try await fixture.store.applyTokenEvents() == 1)
        #expect(try await events(fixture, "held") == 2)
        try await fixture.store.closeCircuit(application: 1)
        #expect(try await events(fixture, "undone") == 2)
        #expect(try await fixture.store.applyTokenEvents() == 0)
        // A program of an older version releases only what it knows.
        try await errors(fixture, 3, hoursAgo: [1])
        try await fixture.sql("UPDATE pushmta_engine.token_event SET state = 'held' WHERE subscription_id = 3")
        _ = try await fixture.store.applyTokenEvents()
        #expect(try await events(fixture, "undone") == 3)

        try await errors(fixture, 4, hoursAgo: [120, 95, 70, 45], delivery: nil)
        try await errors(fixture, 4, hoursAgo: [20], delivery: id)
        try await errors(fixture, 1, hoursAgo: [20], delivery: id)
        #expect(try await fixture.store.applyTokenEvents() == 6)
        #expect(try await has(fixture, 4, "quarantine_status = 2"))
        #expect(try await fixture.store.undoTokenEvents(delivery: id) == 2)
        #expect(try await has(fixture, 4, "quarantine_status = 1 AND soft_errors = 4 AND quarantined_at IS NULL"))
        #expect(try await has(fixture, 1, "quarantine_status = 0 AND soft_errors = 0 AND quarantine_reason = ''"))
    }

    @Test(
        "A message that was given up has a soft error with its outcome, which a program of the previous version applies"
    )
    func withTheOutcome() async throws {
        let (fixture, _) = try await prepared()
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        for (row, isDecision) in [(0, true), (1, false)] {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .failed,
                httpStatus: 429,
                reason: "TooManyRequests",
                tokenEffect: .softError,
                failure: MessageFailure(.soft, .refused),
                isDecision: isDecision
            )
        }
        #expect(try await fixture.store.releasePart(PartToken(part: part.id, token: part.fencingToken)))
        #expect(try await fixture.store.storeOutcomes(batch).inserted == 1, "a decision of an owner that was lost")
        #expect(try await events(fixture, "pending") == 1)
        #expect(try await fixture.sql("SELECT pushmta_engine.apply_token_effects(1000, 5, '1 day', '10 days')") == 1)
        #expect(try await has(fixture, Int(loaded.subscriptionIDs[1]), "quarantine_status = 1 AND soft_errors = 1"))
    }
}
