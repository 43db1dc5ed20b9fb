import LaboratoryStore
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("The end of messages that are no longer sent")
struct FinishingTests {
    @Test("Ambiguous messages without an outcome become unknown; the rest is canceled")
    func doubtful() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        let first = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(first, try await fixture.store.loadPart(first, fieldNames: []), rows: 0..<2, .sent)
        _ = try await fixture.store.storeOutcomes(batch)
        let soft = PartRecovery.SoftAnswer(sequence: 4, attempt: 1, httpStatus: 503, reason: "later", notBefore: nil)
        let recovery = PartRecovery(ambiguous: [2, 3, 4], softAnswers: [soft])
        #expect(try await fixture.store.releasePart(PartToken(part: first.id, token: 1), recovery: recovery))
        let second = try required(try await fixture.claim(limit: 2).first { $0.id == first.id })
        _ = try await fixture.store.mark([PartMark(part: second.id, token: 2, through: 6)])
        #expect(try await fixture.store.releasePart(PartToken(part: second.id, token: 2), ambiguousThroughMark: true))
        try await fixture.store.stopDelivery(id)
        #expect(try await fixture.parts(id, "waiting") == 1, "parts with ambiguous messages are resolved by the duty")
        #expect(try await fixture.store.finishRest() == 1)
        let outcomes = try await fixture.store.outcomeRows(delivery: id)
        #expect(outcomes.filter { $0.status == .unknown }.map(\.sequence) == [3, 4, 5, 6])
        #expect(outcomes.filter { $0.status == .sent }.map(\.sequence) == [1, 2])
        #expect(try await fixture.store.ambiguousMessages(delivery: id) == [2, 3, 4, 5, 6])
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
        #expect(
            try await fixture.sql("SELECT fencing_token FROM pushmta_engine.delivery_part WHERE id = \(first.id)") == 3
        )
    }

    @Test("Ambiguity carries over from one retry part to the next")
    func retriedTwice() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<18, .sent)
        let retry = RetrySet(sequences: [19, 20], delayMilliseconds: 0)
        batch.closing = [ClosingPart(part: part.id, token: 1, retries: [retry], ambiguous: [19])]
        #expect(try await fixture.store.storeOutcomes(batch).retryParts == 1)
        // Both get soft errors now, but the first may still have arrived.
        let second = try required(try await fixture.claim().first)
        var again = OutcomeBatch()
        again.closing = [ClosingPart(part: second.id, token: 1, retries: [retry])]
        #expect(try await fixture.store.storeOutcomes(again).retryParts == 1)
        try await fixture.store.stopDelivery(id)
        _ = try await fixture.store.finishRest()
        let outcomes = try await fixture.store.outcomeRows(delivery: id)
        #expect(outcomes.filter { $0.status == .unknown }.map(\.sequence) == [19])
        #expect(outcomes.filter { $0.status == .canceled }.map(\.sequence) == [20])
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test("A message that the previous part left ambiguous becomes unknown in a retry part that is never sent")
    func retried() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<15, .sent)
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: 1,
                retries: [
                    RetrySet(sequences: [16, 17, 18], delayMilliseconds: 0),
                    RetrySet(sequences: [19, 20], delayMilliseconds: 0),
                ],
                ambiguous: [17, 19]
            )
        ]
        let closed = try await fixture.store.storeOutcomes(batch)
        #expect(closed.closedParts == [part.id] && closed.retryParts == 2)
        #expect(try await fixture.store.ambiguousMessages(delivery: id) == [17, 19])
        // One is claimed when the delivery is stopped: its owner ends it the same way.
        let held = try required(try await fixture.claim().first)
        #expect(held.attempt == 2 && !held.mayHaveHistory)
        try await fixture.store.stopDelivery(id)
        var end = OutcomeBatch()
        end.closing = [ClosingPart(part: held.id, token: 1, restStatus: .canceled, restReason: "stopped")]
        #expect(try await fixture.store.storeOutcomes(end).closedParts == [held.id])
        #expect(try await fixture.store.finishRest() == 1)
        let outcomes = try await fixture.store.outcomeRows(delivery: id)
        #expect(outcomes.filter { $0.status == .unknown }.map(\.sequence) == [17, 19])
        #expect(outcomes.filter { $0.status == .canceled }.map(\.sequence) == [16, 18, 20])
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
        #expect(try await fixture.store.deliveryProgress(id).finishedAt != nil)
    }

    @Test("Ambiguous messages of a part without retries are recorded too, and a repeated batch changes nothing")
    func closedWithoutRetries() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<20, .sent)
        batch.closing = [ClosingPart(part: part.id, token: 1, resentAfterAmbiguity: 1, ambiguous: [5, 5])]
        _ = try await fixture.store.storeOutcomes(batch)
        #expect(try await fixture.store.storeOutcomes(batch).closedParts == [part.id])
        #expect(try await fixture.store.ambiguousMessages(delivery: id) == [5])
        #expect(try await fixture.store.deliveryProgress(id).resentAfterAmbiguity == 1)
    }

    @Test(
        "Parts past their validity are ignored as expired, even in paused deliveries; claimed ones stay",
        arguments: [true, false]
    )
    func expiry(paused: Bool) async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let held = try required(try await fixture.claim().first)
        #expect(try await fixture.store.finishRest() == 0)
        let doubtful = try required(try await fixture.claim().first)
        #expect(
            try await fixture.store.releasePart(
                PartToken(part: doubtful.id, token: 1),
                recovery: PartRecovery(ambiguous: [21])
            )
        )
        if paused { try await fixture.store.pauseDelivery(id) }
        try await fixture.sql("UPDATE pushmta_engine.delivery SET valid_until = now() - interval '1 s'")
        #expect(try await fixture.store.finishRest(limit: 1) == 1)
        #expect(try await fixture.store.finishRest() == 1)
        #expect(try await fixture.store.finishRest() == 0)
        let counts = try await fixture.store.outcomeCounts(delivery: id)
        #expect(counts.first == OutcomeCount(status: .ignored, reason: "expired", count: 39))
        #expect(try await fixture.parts(id, "claimed") == 1)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.unknown == 1 && progress.pending == 20 && progress.finishedAt == nil)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
        #expect(try await fixture.store.mark([PartMark(part: held.id, token: 1, through: 1)]) == [held.id])
    }

    @Test("Parts that an older program left ready or waiting against the delivery's state are corrected")
    func healing() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET state = 'waiting'")
        #expect(try await fixture.store.finishRest() == 3)
        #expect(try await fixture.parts(id, "ready") == 3)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET state = 'paused'")
        #expect(try await fixture.claim(limit: 3).isEmpty, "a claim looks at the delivery too")
        #expect(try await fixture.store.finishRest() == 3)
        #expect(try await fixture.parts(id, "waiting") == 3)
        try await fixture.sql(
            "UPDATE pushmta_engine.delivery SET state = 'stopped', state_reason = 'x', finished_at = now()"
        )
        #expect(try await fixture.store.finishRest() == 3)
        #expect(try await fixture.store.deliveryProgress(id).canceled == 60)
    }

    @Test("Several hosts finish at once, and each message ends once")
    func hosts() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 600, partSize: 10)
        for part in try await fixture.claim(limit: 60) {
            let first = Int32((part.id - 1) * 10 + 1)
            let recovery = PartRecovery(ambiguous: [first, first + 3])
            _ = try await fixture.store.releasePart(PartToken(part: part.id, token: 1), recovery: recovery)
        }
        try await fixture.store.stopDelivery(id)
        let database = fixture.database
        let changed = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let store = Store(configuration: database.configuration())
                    var sum = 0
                    while true {
                        let changed = try await store.finishRest(limit: 7)
                        sum += changed
                        if changed == 0, try await store.deliveryProgress(id).finishedAt != nil { break }
                    }
                    await store.close()
                    return sum
                }
            }
            return try await group.reduce(0, +)
        }
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(changed == 60 && progress.unknown == 120 && progress.canceled == 480)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test("A fenced owner's decisions no longer count, its facts do")
    func fencedDecisions() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        #expect(try await fixture.other.releasePart(PartToken(part: part.id, token: 1)))
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<2, .sent)
        batch.append(part, loaded, rows: 2..<3, .failed, reason: "BadDeviceToken")
        batch.append(part, loaded, rows: 3..<5, .unknown)
        batch.append(part, loaded, rows: 5..<6, .notApplicable, reason: "opted_out")
        let report = try await fixture.store.storeOutcomes(batch)
        #expect(report.inserted == 3 && report.late == 3 && report.existed == 0 && report.fencedParts == [part.id])
        var foreign = OutcomeBatch()
        foreign.append(part: part.id, token: 2, sequence: 9, subscriptionID: 0, status: .sent)
        foreign.append(part: 999, token: 1, sequence: 9, subscriptionID: 0, status: .sent)
        #expect(try await fixture.store.storeFacts(foreign).inserted == 0, "a token that the part never had")
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.sent == 2 && progress.failed == 1 && progress.pending == 17 && progress.lateOutcomes == 3)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test(
        "A batch may hold late facts of an earlier fencing token and outcomes of the valid one",
        arguments: [true, false]
    )
    func twoTokens(overlap: Bool) async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        #expect(try await fixture.other.releasePart(PartToken(part: part.id, token: 1), ambiguousThroughMark: true))
        let second = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<10, .sent)
        batch.append(second, loaded, rows: (overlap ? 5 : 10)..<60, .sent)
        batch.closing = [ClosingPart(part: part.id, token: 1), ClosingPart(part: part.id, token: 2)]
        let report = try await fixture.store.storeOutcomes(batch)
        #expect(report.inserted == 60 && report.fencedParts == [part.id] && report.closedParts == [part.id])
        #expect(overlap || report.late == 10)
        #expect(try await fixture.store.snapshot(delivery: part.deliveryID).faults == [])
    }
}
