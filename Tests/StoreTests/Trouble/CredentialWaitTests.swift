import PushCore
import Store
import TestSupport
import Testing

@Suite("Messages that wait for a credential stored at the gateway")
struct CredentialWaitTests {
    private static let reason = "401 THIRD_PARTY_AUTH_ERROR"

    /// A part of 20 messages: three wait separately, the others were sent.
    private func waiting(messages: Int64 = 20) async throws -> (StoreFixture, Int64) {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: messages, partSize: 20)
        try await refuse(fixture)
        return (fixture, delivery)
    }

    /// Three messages of the next part must wait separately.
    private func refuse(_ fixture: StoreFixture) async throws {
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        for row in 3..<20 {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .sent
            )
        }
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: part.fencingToken,
                retries: [
                    RetrySet(
                        sequences: Array(loaded.sequences[..<3]),
                        delayMilliseconds: 0,
                        countsAttempt: false,
                        refusals: 1,
                        waitsFor: Self.reason
                    )
                ]
            )
        ]
        #expect(try await fixture.store.storeOutcomes(batch).retryParts == 1)
    }

    private func due(_ fixture: StoreFixture) async throws {
        try await fixture.sql("UPDATE pushmta_engine.credential_wait SET next_probe_at = now() - interval '1 ms'")
    }

    @Test("They are due only as a probe in five minutes, with one alarm that names the cause")
    func probe() async throws {
        let (fixture, delivery) = try await waiting()
        #expect(try await fixture.claim(limit: 9).isEmpty)
        #expect(try await fixture.store.tryCredentialWaits() == 0)
        let alarms = try await fixture.alarms("credential_refused")
        #expect(alarms.count == 1 && alarms.first?.severity == .critical)
        #expect(
            alarms.first?.text.contains("3 of its messages") == true && alarms.first?.text.contains(Self.reason) == true
        )
        let progress = try await fixture.store.deliveryProgress(delivery)
        #expect(progress.waitingReason.contains(Self.reason), "\(progress.waitingReason)")
        try await due(fixture)
        #expect(try await fixture.store.tryCredentialWaits() == 1)
        let part = try required(try await fixture.claim().first)
        #expect(part.waitsFor == Self.reason && part.size == 3 && part.refusals == 1)
        #expect(try await fixture.store.tryCredentialWaits() == 0, "not before five minutes")
        #expect(
            try await fixture.sql(
                "SELECT round(extract(epoch FROM next_probe_at - now()))::bigint FROM pushmta_engine.credential_wait"
            ) == 300
        )
    }

    @Test("One that gets through lets the others go, and ends the alarm")
    func right() async throws {
        let (fixture, _) = try await waiting()
        try await fixture.store.endCredentialWait(application: 1, account: 1, reason: Self.reason)
        let part = try required(try await fixture.claim().first)
        #expect(part.waitsFor == nil && part.size == 3 && part.attempt == 1)
        #expect(try await fixture.alarms("credential_refused").isEmpty)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.credential_wait") == 0)
    }

    @Test("A refusal after one got through starts the wait again: nothing is sent before the next probe")
    func luck() async throws {
        let (fixture, _) = try await waiting(messages: 40)
        // A message got through an hour ago, and this part is not yet among the released ones.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.credential_wait SET ended_at = now(), probes = 12, began_at = now() - interval '1 hour',
                next_probe_at = now() - interval '1 minute'
            """
        )
        #expect(try await fixture.alarms("credential_refused").isEmpty)
        try await refuse(fixture)
        #expect(try await fixture.store.tryCredentialWaits() == 0)
        #expect(try await fixture.claim(limit: 9).isEmpty)
        let alarms = try await fixture.alarms("credential_refused")
        #expect(alarms.count == 1 && alarms.first?.text.contains("6 of its messages") == true)
        #expect(alarms.first?.text.contains("(0 so far)") == true)
        #expect(
            try await fixture.sql(
                """
                SELECT count(*) FROM pushmta_engine.credential_wait WHERE ended_at IS NULL AND probes = 0
                    AND began_at > now() - interval '10 minutes' AND next_probe_at = began_at + interval '5 minutes'
                """
            ) == 1
        )
    }

    @Test("An operator tries at once, and a stop ends them")
    func operators() async throws {
        let (fixture, delivery) = try await waiting()
        try await fixture.store.resumeApplication(named: "shop-ios")
        #expect(try await fixture.store.tryCredentialWaits() == 1)
        try await fixture.store.stopDelivery(delivery)
        try await fixture.store.finishRest()
        #expect(try await fixture.store.deliveryProgress(delivery).canceled == 3)
        #expect(try await fixture.alarms("credential_refused").isEmpty)
        try await due(fixture)
        try await fixture.store.tryCredentialWaits()
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.credential_wait") == 0)
    }

    @Test("Their delivery's validity ends them")
    func validity() async throws {
        let (fixture, delivery) = try await waiting()
        try await fixture.sql("UPDATE pushmta_engine.delivery SET valid_until = now() - interval '1 s'")
        try await fixture.store.finishRest()
        #expect(try await fixture.store.deliveryProgress(delivery).ignored == 3)
    }
}
