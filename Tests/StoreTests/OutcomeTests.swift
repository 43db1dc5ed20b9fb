import PushCore
import TestSupport
import Testing

@testable import Store

@Suite("Outcomes")
struct OutcomeTests {
    @Test("Outcomes are stored once and counted, and end the part and the delivery")
    func plain() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<50, .sent)
        batch.append(part, loaded, rows: 50..<55, .failed, reason: "BadDeviceToken")
        let first = try await fixture.store.storeOutcomes(batch)
        #expect(first.inserted == 55 && first.existed == 0 && first.fencedParts.isEmpty && first.closedParts.isEmpty)
        #expect(try await fixture.store.knownOutcomes(part).count == 55)
        var rest = OutcomeBatch()
        rest.append(part, loaded, rows: 55..<60, .notApplicable, reason: "opted_out")
        rest.closing = [ClosingPart(part: part.id, token: 1)]
        let second = try await fixture.store.storeOutcomes(rest)
        #expect(second.inserted == 5 && second.closedParts == [part.id] && second.retryParts == 0)
        #expect(try await fixture.store.finishDeliveries() == [part.deliveryID])
        let progress = try await fixture.store.deliveryProgress(part.deliveryID)
        #expect(progress.sent == 50 && progress.failed == 5 && progress.notApplicable == 5 && progress.pending == 0)
        #expect(try await fixture.assertEquation(part.deliveryID))
        let counts = try await fixture.store.outcomeCounts(delivery: part.deliveryID)
        #expect(counts.first == OutcomeCount(status: .sent, reason: "", count: 50))
        #expect(counts.contains(OutcomeCount(status: .failed, reason: "BadDeviceToken", count: 5)))
    }

    @Test("A batch that is repeated after a lost COMMIT reply changes nothing", arguments: [false, true])
    func lostCommit(closing: Bool) async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<40, .sent)
        batch.append(part, loaded, rows: 40..<50, .failed, reason: "Unregistered")
        if closing {
            batch.closing = [
                ClosingPart(
                    part: part.id,
                    token: 1,
                    retries: [RetrySet(sequences: Array(loaded.sequences[50..<60]), delayMilliseconds: 0)]
                )
            ]
        }
        _ = try await fixture.store.storeOutcomes(batch)
        let again = try await fixture.store.storeOutcomes(batch)
        #expect(again.inserted == 0 && again.existed == 50 && again.late == 0)
        #expect(
            again.fencedParts.isEmpty && again.unbalancedParts.isEmpty
                && again.closedParts == (closing ? [part.id] : [])
        )
        let progress = try await fixture.store.deliveryProgress(part.deliveryID)
        #expect(progress.sent == 40 && progress.failed == 10 && progress.pending == 10 && progress.lateOutcomes == 0)
        #expect(progress.partsReady == (closing ? 1 : 0) && progress.partsDone == (closing ? 1 : 0))
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    @Test("Soft failures go into one retry part, once, with the next attempt and their own subscriptions")
    func retryPart() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<54, .sent)
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: 1,
                retries: [
                    RetrySet(sequences: [60, 55, 57], delayMilliseconds: 0),
                    RetrySet(sequences: [56, 58, 59], delayMilliseconds: 3_600_000),
                ]
            )
        ]
        let report = try await fixture.store.storeOutcomes(batch)
        #expect(report.closedParts == [part.id] && report.retryParts == 2)
        #expect(try await fixture.assertEquation(part.deliveryID))
        #expect(try await fixture.store.finishDeliveries().isEmpty)
        let claimed = try await fixture.claim(limit: 5)
        #expect(claimed.count == 1, "the other one is not due")
        let retry = try required(claimed.first)
        #expect(retry.attempt == 2 && retry.size == 3 && retry.fencingToken == 1)
        let again = try await fixture.store.loadPart(retry, fieldNames: ["firstName"])
        #expect(
            again.sequences == [55, 57, 60] && again.subscriptionIDs == [54, 56, 59].map { loaded.subscriptionIDs[$0] }
        )
        var last = OutcomeBatch()
        last.append(retry, again, rows: 0..<3, .sent)
        last.closing = [ClosingPart(part: retry.id, token: 1)]
        #expect(try await fixture.store.storeOutcomes(last).closedParts == [retry.id])
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    @Test("An owner that lost its part decides nothing, but its gateway answers are stored and counted as late")
    func fenced() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        #expect(try await fixture.other.releasePart(PartToken(part: part.id, token: 1), ambiguousThroughMark: true))
        let second = try required(try await fixture.claim().first)
        var fresh = OutcomeBatch()
        fresh.append(second, loaded, rows: 0..<10, .sent)
        _ = try await fixture.other.storeOutcomes(fresh)
        var stale = OutcomeBatch()
        stale.append(part, loaded, rows: 5..<20, .sent)
        stale.closing = [ClosingPart(part: part.id, token: 1)]
        let report = try await fixture.store.storeOutcomes(stale)
        #expect(
            report.fencedParts == [part.id] && report.closedParts.isEmpty && report.inserted == 10 && report.late == 10
                && report.existed == 5
        )
        #expect(try await fixture.store.deliveryProgress(part.deliveryID).lateOutcomes == 10)
        #expect(try await fixture.assertEquation(part.deliveryID))
        // The new owner, which does not know them, still ends the part.
        var rest = OutcomeBatch()
        rest.append(second, loaded, rows: 10..<60, .sent)
        rest.closing = [ClosingPart(part: second.id, token: 2)]
        let end = try await fixture.other.storeOutcomes(rest)
        #expect(end.inserted == 40 && end.existed == 10 && end.closedParts == [second.id])
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    @Test("A late fact of a message that went into a retry part counts there")
    func lateInRetryPart() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        _ = try await fixture.other.releasePart(PartToken(part: part.id, token: 1))
        let second = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(second, loaded, rows: 0..<58, .sent)
        batch.closing = [
            ClosingPart(part: second.id, token: 2, retries: [RetrySet(sequences: [59, 60], delayMilliseconds: 0)])
        ]
        _ = try await fixture.other.storeOutcomes(batch)
        var stale = OutcomeBatch()
        stale.append(part, loaded, rows: 58..<59, .sent)
        let report = try await fixture.store.storeOutcomes(stale)
        #expect(report.late == 1 && report.fencedParts == [part.id])
        #expect(try await fixture.assertEquation(part.deliveryID))
        let retry = try required(try await fixture.claim().first)
        var last = OutcomeBatch()
        last.append(retry, try await fixture.store.loadPart(retry, fieldNames: []), rows: 1..<2, .failed, reason: "x")
        last.closing = [ClosingPart(part: retry.id, token: 1)]
        #expect(try await fixture.store.storeOutcomes(last).closedParts == [retry.id])
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    @Test("A message with an outcome by then is left out of the retry part")
    func retryFilter() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var fact = OutcomeBatch()
        fact.append(part, loaded, rows: 59..<60, .sent)
        _ = try await fixture.other.storeFacts(fact)
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<50, .sent)
        batch.closing = [
            ClosingPart(part: part.id, token: 1, retries: [RetrySet(sequences: Array(51...60), delayMilliseconds: 0)])
        ]
        #expect(try await fixture.store.storeOutcomes(batch).closedParts == [part.id])
        #expect(try await fixture.claim().first?.size == 9)
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    @Test("A part whose counters do not add up is not closed, and sequences of other parts are refused")
    func unbalanced() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<50, .sent)
        batch.closing = [
            ClosingPart(part: part.id, token: 1, retries: [RetrySet(sequences: [900, 901], delayMilliseconds: 0)])
        ]
        let report = try await fixture.store.storeOutcomes(batch)
        #expect(
            report.inserted == 50 && report.unbalancedParts == [part.id] && report.closedParts.isEmpty
                && report.fencedParts.isEmpty
        )
        #expect(try await fixture.store.deliveryProgress(part.deliveryID).partsClaimed == 1)
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    @Test(
        "A journal's facts need no fencing token and no subscription; foreign sequences are dropped; a repetition changes nothing"
    )
    func journalFacts() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        var facts = OutcomeBatch()
        for sequence: Int32 in [1, 2, 3, 777] {
            facts.append(
                part: part.id,
                token: 1,
                sequence: sequence,
                subscriptionID: 0,
                status: sequence == 3 ? .failed : .sent,
                reason: sequence == 3 ? "Unregistered" : "",
                tokenEffect: sequence == 3 ? .invalid(sinceMilliseconds: 1_700_000_000_000) : .none
            )
        }
        let first = try await fixture.store.storeFacts(facts)
        #expect(first.inserted == 3 && first.late == 0)
        #expect(try await fixture.store.storeFacts(facts).inserted == 0)
        let progress = try await fixture.store.deliveryProgress(part.deliveryID)
        #expect(progress.journalReplayed == 3 && progress.sent == 2 && progress.failed == 1)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.token_event WHERE subscription_id = 3 AND since = to_timestamp(1700000000)"
            ) == 1
        )
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    @Test("Gateway ids and many different reasons are kept")
    func details() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        for row in 0..<60 {
            batch.append(
                part: part.id,
                token: 1,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: row < 40 ? .sent : .failed,
                httpStatus: Int16(200 + row),
                reason: row < 40 ? "" : "r\(row)",
                gatewayMessageID: row % 2 == 0 ? "g\(row)" : nil,
                attempt: Int16(1 + row % 3)
            )
        }
        batch.closing = [ClosingPart(part: part.id, token: 1)]
        #expect(try await fixture.store.storeOutcomes(batch).inserted == 60)
        let right = try await fixture.sql(
            """
            SELECT count(*) FROM pushmta.message_status WHERE http_status = 199 + sequence
                AND gateway_message_id IS NOT DISTINCT FROM CASE WHEN sequence % 2 = 1 THEN 'g' || sequence - 1 END
                AND attempt = 1 + (sequence - 1) % 3 AND reason = CASE WHEN sequence <= 40 THEN '' ELSE 'r' || sequence - 1 END
            """
        )
        #expect(right == 60)
    }

    @Test("A text that many successes share is stored")
    func sharedReason() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<20, .sent)
        batch.append(part, loaded, rows: 20..<50, .sent, reason: "Silence")
        batch.append(part, loaded, rows: 50..<60, .failed, reason: "InvalidToken")
        #expect(try await fixture.store.storeOutcomes(batch).inserted == 60)
        // A repetition takes the conflict path, row by row.
        #expect(try await fixture.store.storeOutcomes(batch).existed == 60)
        let right = try await fixture.sql(
            """
            SELECT count(*) FROM pushmta.message_status
            WHERE reason = CASE WHEN sequence <= 20 THEN '' WHEN sequence <= 50 THEN 'Silence' ELSE 'InvalidToken' END
            """
        )
        #expect(right == 60)
        #expect(try await fixture.store.deliveryProgress(part.deliveryID).sent == 50)
    }

    @Test("A stopped part writes no rows: its rest gets one outcome")
    func rest() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        var batch = OutcomeBatch()
        batch.append(part, loaded, rows: 0..<20, .sent)
        batch.closing = [ClosingPart(part: part.id, token: 1, restStatus: .canceled, restReason: "stopped")]
        #expect(try await fixture.store.storeOutcomes(batch).closedParts == [part.id])
        let progress = try await fixture.store.deliveryProgress(part.deliveryID)
        #expect(progress.sent == 20 && progress.canceled == 40 && progress.pending == 0)
        #expect(try await fixture.assertEquation(part.deliveryID))
        let counts = try await fixture.store.outcomeCounts(delivery: part.deliveryID)
        #expect(counts.first == OutcomeCount(status: .canceled, reason: "stopped", count: 40))
        // A late fact removes its message from the rest.
        var fact = OutcomeBatch()
        fact.append(part, loaded, rows: 30..<31, .sent)
        _ = try await fixture.store.storeFacts(fact, fromJournal: false)
        #expect(try await fixture.store.deliveryProgress(part.deliveryID).canceled == 39)
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    @Test("Two owners that store the same messages in parallel neither lose nor duplicate any")
    func race() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 60)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        let database = fixture.database
        try await withThrowingTaskGroup(of: Void.self) { group in
            for offset in 0..<6 {
                group.addTask {
                    let store = Store(configuration: database.configuration())
                    for start in stride(from: 0, to: 60, by: 10) {
                        var batch = OutcomeBatch()
                        let from = (start + offset * 10) % 60
                        batch.append(part, loaded, rows: from..<from + 10, .sent)
                        _ = offset % 2 == 0 ? try await store.storeOutcomes(batch) : try await store.storeFacts(batch)
                    }
                    await store.close()
                }
            }
            try await group.waitForAll()
        }
        let progress = try await fixture.store.deliveryProgress(part.deliveryID)
        #expect(progress.sent == 60 && progress.pending == 0)
        #expect(try await fixture.assertEquation(part.deliveryID))
    }
}

/// Batches that are stored with COPY instead of INSERT.
@Suite("Outcomes of larger batches")
struct CopiedOutcomeTests {
    private static let columns = """
        sequence, subscription_id, part_id, log_day, status, http_status, attempt, failure, reason, gateway_message_id
        """

    /// Everything that a row can have: runs with and without gateway ids, shared reasons, failures, and so many
    /// attempts that there are more runs than a batch keeps, and than are inserted separately.
    private func outcomes(_ part: ClaimedPart, _ loaded: LoadedPart, rows: Range<Int>) -> OutcomeBatch {
        var batch = OutcomeBatch()
        for row in rows {
            let kind = row % 5
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: [.sent, .sent, .failed, .ignored, .unknown][kind],
                httpStatus: [200, 200, 410, 0, 0][kind],
                reason: ["", "", "Unregistered \(row)", "", "no \"answer\"\t\\ \u{1F600}"][kind],
                gatewayMessageID: kind == 1 ? "0:\(row)%é" : nil,
                attempt: Int16(1 + row / 5 % 100),
                failure: kind == 2 ? MessageFailure(.hard, .userUnknown) : nil
            )
        }
        return batch
    }

    /// Messages that FCM accepts.
    private func accepted(_ part: ClaimedPart, _ loaded: LoadedPart, rows: Range<Int>) -> OutcomeBatch {
        var batch = OutcomeBatch()
        for row in rows {
            batch.append(
                part: part.id,
                token: part.fencingToken,
                sequence: loaded.sequences[row],
                subscriptionID: loaded.subscriptionIDs[row],
                status: .sent,
                httpStatus: 200,
                gatewayMessageID: "0:\(row)"
            )
        }
        return batch
    }

    @Test("The rows are the same as with inserts")
    func sameRows() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 8_000)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        try #require(loaded.sequences.count == part.size && part.size >= 500)
        let size = Int(part.size)
        #expect(try await fixture.store.storeOutcomes(outcomes(part, loaded, rows: 0..<size)).inserted == size)
        #expect(try await fixture.assertEquation(part.deliveryID))
        try await fixture.sql("CREATE TABLE copied AS SELECT \(Self.columns) FROM pushmta_engine.broad_log")
        try await fixture.sql("DELETE FROM pushmta_engine.broad_log")
        try await fixture.sql("UPDATE pushmta_engine.delivery_part SET sent = 0, failed = 0, ignored = 0, unknown = 0")
        for start in stride(from: 0, to: size, by: 100) {
            _ = try await fixture.store.storeOutcomes(outcomes(part, loaded, rows: start..<min(start + 100, size)))
        }
        let inserted = "SELECT \(Self.columns) FROM pushmta_engine.broad_log"
        #expect(
            try await fixture.sql("SELECT count(*) FROM (SELECT * FROM copied INTERSECT (\(inserted))) x")
                == Int64(size)
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.broad_log WHERE logged_at IS NULL") == 0)
    }

    @Test("A batch that is repeated after a lost COMMIT reply changes nothing")
    func lostCommit() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 8_000)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        try #require(loaded.sequences.count == part.size && part.size >= 500)
        let size = Int(part.size)
        var batch = outcomes(part, loaded, rows: 0..<(size - 1))
        batch.closing = [
            ClosingPart(
                part: part.id,
                token: 1,
                retries: [RetrySet(sequences: [loaded.sequences[size - 1]], delayMilliseconds: 0)]
            )
        ]
        let first = try await fixture.store.storeOutcomes(batch)
        #expect(first.inserted == size - 1 && first.closedParts == [part.id] && first.retryParts == 1)
        let again = try await fixture.store.storeOutcomes(batch)
        #expect(again.inserted == 0 && again.existed == size - 1 && again.late == 0 && again.closedParts == [part.id])
        #expect(try await fixture.assertEquation(part.deliveryID))
    }

    /// As with different latencies: some of each of many parts, without gateway ids.
    private func mixed(_ parts: [(part: ClaimedPart, loaded: LoadedPart)], rows: Range<Int>) -> OutcomeBatch {
        var batch = OutcomeBatch()
        for row in rows {
            for (part, loaded) in parts {
                let isFailed = row % 10 == 9
                batch.append(
                    part: part.id,
                    token: part.fencingToken,
                    sequence: loaded.sequences[row],
                    subscriptionID: loaded.subscriptionIDs[row],
                    status: isFailed ? .failed : .sent,
                    httpStatus: isFailed ? 410 : 200,
                    reason: isFailed ? "Unregistered" : "",
                    tokenEffect: isFailed ? .invalid(sinceMilliseconds: nil) : .none,
                    failure: isFailed ? MessageFailure(.hard, .userUnknown) : nil,
                    firstOf: 1
                )
            }
        }
        return batch
    }

    @Test("Rows of many parts are copied, without those of a lost part, and together with existing ones")
    func manyParts() async throws {
        let (fixture, delivery) = try await StoreFixture.prepared(messages: 16_000, partSize: 1_000)
        var parts: [(part: ClaimedPart, loaded: LoadedPart)] = []
        for part in try await fixture.claim(limit: 16) where part.deliveryID == delivery && part.size >= 60 {
            parts.append((part, try await fixture.store.loadPart(part, fieldNames: [])))
        }
        let count = parts.count
        try #require(count >= 10)
        let lost = parts[0].part
        #expect(try await fixture.other.releasePart(PartToken(part: lost.id, token: 1), ambiguousThroughMark: true))
        let first = mixed(parts, rows: 0..<30)
        #expect(BroadLogCopy.suits(first) && first.runs.count == count && first.rows.count == 3 * count)
        let report = try await fixture.store.storeOutcomes(first)
        #expect(report.inserted == 30 * count && report.existed == 0 && report.late == 30)
        #expect(report.fencedParts == [lost.id])
        // Acceptances are recorded, and so are answers about tokens of held parts.
        let bits = "SELECT sum(bit_count(accepted))::bigint FROM pushmta_engine.subscription_acceptance"
        #expect(try await fixture.sql(bits) == Int64(27 * count))
        let events = "SELECT count(*) FROM pushmta_engine.token_event WHERE kind = 'invalid'"
        #expect((try await fixture.sql(events) ?? 0) >= 3 * (count - 1))
        let again = try await fixture.store.storeOutcomes(mixed(parts, rows: 29..<60))
        #expect(again.inserted == 30 * count && again.existed == count && again.late == 30)
        #expect(try await fixture.assertEquation(delivery))
    }

    @Test("Some rows exist already and some parts are lost: the rest is stored, and nothing twice")
    func fencedAndThere() async throws {
        let (fixture, part) = try await StoreFixture.withClaimedPart(messages: 8_000)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        try #require(loaded.sequences.count == part.size && part.size >= 500)
        let size = Int(part.size)
        #expect(try await fixture.other.releasePart(PartToken(part: part.id, token: 1), ambiguousThroughMark: true))
        let second = try required(try await fixture.claim().first)
        let fresh = accepted(second, loaded, rows: 0..<250)
        #expect(try await fixture.other.storeOutcomes(fresh).inserted == 250)
        let stale = accepted(part, loaded, rows: 200..<450)
        let report = try await fixture.store.storeOutcomes(stale)
        #expect(report.fencedParts == [part.id] && report.inserted == 200 && report.late == 200 && report.existed == 50)
        var rest = accepted(second, loaded, rows: 250..<size)
        rest.closing = [ClosingPart(part: second.id, token: 2)]
        let end = try await fixture.other.storeOutcomes(rest)
        #expect(end.inserted == size - 450 && end.existed == 200 && end.closedParts == [second.id])
        #expect(try await fixture.assertEquation(part.deliveryID))
    }
}
