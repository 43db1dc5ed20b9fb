import LaboratoryStore
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("What an owner of a message must know about earlier owners")
struct InheritedAmbiguousTests {
    @Test(
        "A retry part knows its ambiguous messages, across retries and owners"
    )
    func handedOver() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let store = fixture.store
        let first = try required(try await fixture.claim().first)
        #expect(try await store.inheritedAmbiguous(first) == [])
        // It ends under its second fencing token, and only the outcomes stored with that one count.
        #expect(
            try await store.releasePart(
                PartToken(part: first.id, token: 1),
                recovery: PartRecovery(ambiguous: [1, 19])
            )
        )
        let part = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, try await store.loadPart(part, fieldNames: []), rows: 0..<17, .sent)
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: 2,
                retries: [RetrySet(sequences: [18, 19, 20], delayMilliseconds: 0)],
                ambiguous: [19]
            )
        ]
        #expect(try await store.storeOutcomes(batch).retryParts == 1)
        let retry = try required(try await fixture.claim().first)
        #expect(retry.attempt == 2 && !retry.mayHaveHistory)
        #expect(try await store.inheritedAmbiguous(retry) == [19])
        // A released part keeps this information.
        #expect(try await store.releasePart(PartToken(part: retry.id, token: 1)))
        let again = try required(try await fixture.claim().first)
        #expect(try await store.inheritedAmbiguous(again) == [19])
        // All get soft errors: the next part inherits the ambiguity, although its parent had no ambiguous messages of
        // its own.
        var soft = OutcomeBatch()
        soft.closing = [
            ClosingPart(part: again.id, token: 2, retries: [RetrySet(sequences: [18, 19, 20], delayMilliseconds: 0)])
        ]
        #expect(try await store.storeOutcomes(soft).retryParts == 1)
        let last = try required(try await fixture.claim().first)
        #expect(last.attempt == 3)
        #expect(try await store.inheritedAmbiguous(last) == [19])
        // It ends as unknown and is counted once.
        let loaded = try await store.loadPart(last, fieldNames: [])
        var end = OutcomeBatch()
        end.append(last, loaded, rows: 0..<1, .failed, reason: "ServiceUnavailable")
        end.append(last, loaded, rows: 1..<2, .unknown, reason: "ServiceUnavailable")
        end.append(last, loaded, rows: 2..<3, .failed, reason: "ServiceUnavailable")
        end.closing = [ClosingPart(part: last.id, token: 1)]
        #expect(try await store.storeOutcomes(end).closedParts == [last.id])
        let progress = try await store.deliveryProgress(id)
        #expect(progress.unknown == 1 && progress.failed == 2 && progress.sent == 17 && progress.pending == 0)
        #expect(try await store.snapshot(delivery: id).faults == [])
    }

    @Test("An owner that has lost its part stores only gateways' answers, not messages that it gave up")
    func givenUp() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 4)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        #expect(try await fixture.other.releasePart(PartToken(part: part.id, token: 1), ambiguousThroughMark: true))
        let second = try required(try await fixture.claim().first)
        // An outcome without a text goes into a run, one with a text is a row of its own; the gateway's refusal is a
        // fact.
        var stale = OutcomeBatch()
        for (row, reason) in [(0, ""), (1, "ServiceUnavailable")] {
            stale.append(
                part: part.id,
                token: 1,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .failed,
                httpStatus: 503,
                reason: reason,
                isDecision: true
            )
        }
        stale.append(part, loaded, rows: 2..<3, .failed, reason: "BadMessageId")
        let report = try await fixture.store.storeOutcomes(stale)
        #expect(report.inserted == 1 && report.late == 1 && report.existed == 0 && report.fencedParts == [part.id])
        #expect(try await fixture.assertEquation(part.deliveryID))
        var fresh = OutcomeBatch()
        fresh.append(second, loaded, rows: 0..<2, .sent)
        fresh.append(second, loaded, rows: 3..<4, .sent)
        fresh.closing = [ClosingPart(part: second.id, token: 2)]
        #expect(try await fixture.other.storeOutcomes(fresh).closedParts == [second.id])
        let progress = try await fixture.store.deliveryProgress(part.deliveryID)
        #expect(progress.sent == 3 && progress.failed == 1)
        #expect(try await fixture.store.snapshot(delivery: part.deliveryID).faults == [])
    }

    @Test("An owner that holds its part can give up messages, even if the reply to its COMMIT was lost")
    func givenUpInTime() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 1)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(
            part: part.id,
            token: 1,
            sequence: loaded.sequences[0],
            subscriptionID: loaded.subscriptionIDs[0],
            status: .failed,
            httpStatus: 503,
            isDecision: true
        )
        batch.closing = [ClosingPart(part: part.id, token: 1)]
        #expect(try await fixture.store.storeOutcomes(batch).closedParts == [part.id])
        let repeated = try await fixture.store.storeOutcomes(batch)
        #expect(repeated.closedParts == [part.id] && repeated.existed == 1 && repeated.inserted == 0)
        #expect(try await fixture.store.deliveryProgress(part.deliveryID).failed == 1)
    }

    @Test("The wait after a soft error survives a step back of the clock, however often the part is released")
    func steppedBack() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 4)
        let store = fixture.store
        let now = try await store.databaseClock().microsecondsSince1970 / 1_000
        func soft(_ sequence: Int32, _ milliseconds: Int64?) -> PartRecovery.SoftAnswer {
            PartRecovery.SoftAnswer(
                sequence: sequence,
                attempt: 1,
                httpStatus: 503,
                reason: "",
                notBefore: milliseconds.map { DatabaseTime(microsecondsSince1970: $0 * 1_000) }
            )
        }
        let answers = [soft(1, now + 60_000), soft(2, now - 60_000), soft(3, nil)]
        let recovery = PartRecovery(softAnswers: answers)
        #expect(try await store.releasePart(PartToken(part: part.id, token: 1), recovery: recovery))
        // A record from before a step back of ten minutes is in the future.
        try await fixture.sql(
            """
            UPDATE pushmta_engine.delivery_part_recovery SET created_at = created_at + interval '10 min',
                soft_not_before = ARRAY(SELECT t + interval '10 min' FROM unnest(soft_not_before) WITH ORDINALITY u(t, n) ORDER BY n)
            """
        )
        let second = try required(try await fixture.claim().first)
        let found = try await store.recovery(second).softAnswers
        #expect(found.map(\.sequence) == [1, 2, 3])
        #expect(found[0].notBefore?.microsecondsSince1970 == (now + 660_000) * 1_000)
        let delay = found[0].maxDelayMilliseconds ?? .max
        #expect((1...60_000).contains(delay))
        #expect(found[1].maxDelayMilliseconds == 0 && found[2].notBefore == nil)
        // Its owner releases the part unchanged; a second record would add ten minutes.
        #expect(
            try await store.releasePart(
                PartToken(part: part.id, token: 2),
                recovery: PartRecovery(softAnswers: found)
            )
        )
        let third = try required(try await fixture.claim().first)
        #expect(try await store.recovery(third).softAnswers == found)
    }

    @Test("The last plausible time of a token can be stored")
    func lastTime() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 1)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        let last = try required(TokenEffect.credibleTime(253_402_300_799_999))
        #expect(TokenEffect.credibleTime(last + 1) == nil && TokenEffect.credibleTime(nil) == nil)
        var batch = OutcomeBatch()
        batch.append(
            part: part.id,
            token: 1,
            sequence: loaded.sequences[0],
            subscriptionID: 0,
            status: .failed,
            httpStatus: 410,
            tokenEffect: .invalid(sinceMilliseconds: last)
        )
        #expect(try await fixture.store.storeFacts(batch).inserted == 1)
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.token_event") == 1)
    }
}
