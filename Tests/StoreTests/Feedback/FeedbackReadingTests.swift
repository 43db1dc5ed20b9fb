import PushCore
import Store
import TestSupport
import Testing

/// Decides who may read a feedback service, which deletes what it has reported.
@Suite("Readings of feedback services")
struct FeedbackReadingTests {
    private let one = StoreFixture.worker
    private let other = StoreFixture.otherWorker

    private func claim(_ fixture: StoreFixture, _ worker: String, period: Int = 21_600) async throws
        -> [FeedbackReading]
    {
        try await fixture.store.claimFeedbackReadings(worker: worker, limit: 8, periodSeconds: period)
    }

    /// An iOS application over a binary gateway, with a credential.
    private func binary() async throws -> (StoreFixture, FeedbackReading) {
        let fixture = try await StoreFixture.make()
        let account = try await fixture.store.createAccount(
            name: "binary",
            connector: .iosBinary,
            host: "localhost",
            port: 2_195
        )
        let id = try await fixture.store.application(named: "shop-ios").id
        try await fixture.sql(
            """
            INSERT INTO pushmta_engine.credential (id, kind, name, seal_key_id, sealed, attributes, fingerprint)
            VALUES (77, 'apns_certificate', 'binary', 'k', '\\x00', '{}', 'f')
            """
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.application SET external_account_id = \(account.id), credential_id = 77 WHERE id = \(id)"
        )
        #expect(try await fixture.heartbeat(one))
        return (fixture, FeedbackReading(applicationID: id, accountID: account.id))
    }

    @Test("The active worker gets a service once per period; a silent reader counts as dead")
    func claims() async throws {
        let (fixture, reading) = try await binary()
        _ = try await fixture.heartbeat(other)
        #expect(try await claim(fixture, other).isEmpty)
        #expect(try await claim(fixture, one) == [reading])
        #expect(try await claim(fixture, one).isEmpty)
        // Another worker takes over during the reading: the first one is still reading.
        try await fixture.store.feedbackStop(worker: one)
        #expect(try await fixture.heartbeat(other))
        #expect(try await claim(fixture, other).isEmpty)
        func age(_ time: String) async throws {
            try await fixture.sql("UPDATE pushmta_engine.feedback_reading SET next_at = next_at - interval '\(time)'")
        }
        try await age("299 seconds")
        #expect(try await fixture.store.storeFeedback(reading, tokens: ["aa"], since: [5]) == 0)
        try await age("10 seconds")
        #expect(try await claim(fixture, other).isEmpty, "what it stored has renewed its claim")
        try await age("300 seconds")
        #expect(try await claim(fixture, other) == [reading])
        try await fixture.store.endFeedbackReading(reading, trouble: "", pauseSeconds: 21_600)
        try await age("21590 seconds")
        #expect(try await claim(fixture, other).isEmpty)
        try await age("10 seconds")
        #expect(try await claim(fixture, other) == [reading])
        try await fixture.store.endFeedbackReading(reading, trouble: "away", pauseSeconds: 300)
        let row = try required(try await fixture.store.feedbackServices().first)
        #expect(row.application == "shop-ios" && row.account == "binary" && row.tokens == 1 && row.trouble == "away")
        #expect(row.endedAt != nil)
        // A shorter period takes effect at once, and so does a clock that is set back.
        try await age("-20000 seconds")
        #expect(try await claim(fixture, other).isEmpty)
        #expect(try await claim(fixture, other, period: 600) == [reading])
    }

    @Test("Gateways of open deliveries are read too; those without a credential or not in use are not")
    func routes() async throws {
        let (fixture, reading) = try await binary()
        func routes() async throws -> Int64? {
            try await fixture.sql("SELECT count(*) FROM pushmta_engine.feedback_route")
        }
        #expect(try await routes() == 1)
        #expect(try await fixture.store.feedbackBacklog().services == 1)
        try await fixture.sql("UPDATE pushmta_engine.application SET credential_id = NULL")
        #expect(try await routes() == 0)
        try await fixture.sql(
            """
            UPDATE pushmta_engine.application SET credential_id = 77, external_account_id =
                (SELECT e.id FROM pushmta_engine.external_account e WHERE e.connector = 'ios-http2' ORDER BY e.id LIMIT 1)
            WHERE id = \(reading.applicationID)
            """
        )
        #expect(try await routes() == 0)
        let id = try await fixture.store.createDelivery(
            NewDelivery(label: "d", applications: ["shop-ios"], content: #"{"ios":{"title":"x"}}"#)
        )
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery_application SET external_account_id = \(reading.accountID) WHERE delivery_id = \(id)"
        )
        #expect(try await routes() == 0)
        try await fixture.store.startDelivery(id)
        #expect(try await routes() == 1)
        #expect(try await claim(fixture, one) == [reading])
        try await fixture.sql(
            "UPDATE pushmta_engine.external_account SET active = false WHERE id = \(reading.accountID)"
        )
        #expect(try await routes() == 0)
        #expect(try await fixture.store.feedbackServices().isEmpty)
    }
}
