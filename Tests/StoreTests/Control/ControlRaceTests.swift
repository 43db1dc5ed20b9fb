import LaboratoryStore
import PostgresClient
import PushCore
import TestSupport
import Testing

@testable import Store

/// Each race with two connections: one is in the middle of its transaction when the other begins.
@Suite("Pause, resume and stop against all other operations", .timeLimit(.minutes(3)))
struct ControlRaceTests {
    @Test("A claim under way is left to the child", arguments: ["pause", "stop"])
    func claim(_ action: String) async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        try await fixture.during(StoreFixture.claimScript(id)) {
            if action == "pause" {
                try await fixture.store.pauseDelivery(id)
            } else {
                try await fixture.store.stopDelivery(id)
            }
        }
        #expect(try await fixture.parts(id, "claimed") == 1)
        #expect(try await fixture.parts(id, action == "pause" ? "waiting" : "done") == 2)
        #expect(
            try await fixture.sql(
                "SELECT count(*) FROM pushmta_engine.delivery_part WHERE rest_status IS NOT NULL AND state <> 'done'"
            ) == 0
        )
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test("A claim does not wait for a pause, and takes nothing that the pause holds back")
    func claimDuringPause() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let pause = try await fixture.hold("SELECT pushmta.pause_delivery(\(id))")
        #expect(try await fixture.claim(limit: 9).isEmpty)
        try await pause.run(script: "ROLLBACK")
        #expect(try await fixture.claim(limit: 9).count == 3)
    }

    @Test("Retry parts and released parts take the state that the delivery gets meanwhile", arguments: [true, false])
    func closing(pauses: Bool) async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let parts = try await fixture.claim(limit: 3)
        if !pauses { try await fixture.store.pauseDelivery(id) }
        let loaded = try await fixture.store.loadPart(parts[0], fieldNames: [])
        let closing = parts[0]
        let script = "SELECT pushmta.\(pauses ? "pause" : "resume")_delivery(\(id))"
        try await fixture.during(script) {
            var batch = OutcomeBatch()
            batch.append(closing, loaded, rows: 0..<15, .sent)
            batch.closing = [
                ClosingPart(
                    part: closing.id,
                    token: 1,
                    retries: [RetrySet(sequences: Array(loaded.sequences[15..<20]), delayMilliseconds: 0)]
                )
            ]
            let report = try await fixture.store.storeOutcomes(batch)
            #expect(report.retryParts == 1)
        }
        #expect(try await fixture.parts(id, pauses ? "waiting" : "ready") == 1)
        let other = PartToken(part: parts[1].id, token: 1)
        let back = "SELECT pushmta.\(pauses ? "resume" : "pause")_delivery(\(id))"
        try await fixture.during(back) { _ = try await fixture.other.releasePart(other) }
        #expect(try await fixture.parts(id, pauses ? "ready" : "waiting") == 2)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test(
        "A pause or stop sees a part end or release that came first",
        arguments: ["pause", "stop"]
    )
    func behind(_ action: String) async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let part = try required(try await fixture.claim().first)
        let release = """
            SELECT state FROM pushmta_engine.delivery WHERE id = \(id) FOR KEY SHARE;
            UPDATE pushmta_engine.delivery_part SET state = 'ready', owner = NULL WHERE id = \(part.id)
            """
        try await fixture.during(release) {
            if action == "stop" {
                try await fixture.store.stopDelivery(id)
            } else {
                try await fixture.store.pauseDelivery(id)
            }
        }
        #expect(try await fixture.parts(id, action == "stop" ? "done" : "waiting") == 3)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test("A sweep that releases a part while the delivery is stopped leaves it to be resolved")
    func sweep() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let part = try required(try await fixture.claim().first)
        _ = try await fixture.store.mark([PartMark(part: part.id, token: 1, through: 7)])
        try await fixture.during("SELECT pushmta.stop_delivery(\(id))") {
            let released = try await fixture.other.releasePart(
                PartToken(part: part.id, token: 1),
                ambiguousThroughMark: true
            )
            #expect(released)
        }
        #expect(try await fixture.parts(id, "waiting") == 1)
        #expect(try await fixture.store.finishRest() == 1)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.unknown == 7 && progress.canceled == 53 && progress.finishedAt != nil)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test(
        "An uncommitted chunk of preparation is waited for; the next one creates nothing",
        arguments: [true, false]
    )
    func chunk(stops: Bool) async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 60)
        let id = try await fixture.startedDelivery()
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        _ = try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 1)
        let chunk = """
            SELECT state FROM pushmta_engine.delivery WHERE id = \(id) FOR NO KEY UPDATE;
            INSERT INTO pushmta_engine.delivery_part (delivery_id, application_id, external_account_id, log_day, size)
                SELECT delivery_id, application_id, external_account_id, log_day, 20 FROM pushmta_engine.delivery_part;
            INSERT INTO pushmta_engine.delivery_part_target (part_id, delivery_id, log_day, first_sequence, last_sequence,
                    subscription_ids)
                SELECT (SELECT max(id) FROM pushmta_engine.delivery_part), delivery_id, log_day, 21, 40, subscription_ids
                FROM pushmta_engine.delivery_part_target;
            UPDATE pushmta_engine.delivery SET target = target + 20 WHERE id = \(id)
            """
        try await fixture.during(chunk) {
            if stops { try await fixture.other.stopDelivery(id) } else { try await fixture.other.pauseDelivery(id) }
        }
        #expect(try await fixture.parts(id, stops ? "done" : "waiting") == 2)
        #expect(try await fixture.store.prepareChunk(job, partSize: 20, partsPerChunk: 1).done)
        #expect(try await fixture.store.deliveryProgress(id).target == 40)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test("A late fact counts once, whether it comes before or after the end of its part")
    func lateFact() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        let loaded = try await fixture.store.loadPart(part, fieldNames: [])
        let token = PartToken(part: part.id, token: 1)
        #expect(try await fixture.store.releasePart(token, recovery: PartRecovery(ambiguous: [3, 4])))
        var fact = OutcomeBatch()
        fact.append(part, loaded, rows: 2..<3, .sent)
        let early = fact
        try await fixture.during("SELECT pushmta.stop_delivery(\(id))") {
            let report = try await fixture.other.storeFacts(early)
            #expect(report.inserted == 1)
        }
        #expect(try await fixture.store.finishRest() == 1)
        fact.append(part, loaded, rows: 3..<5, .sent)
        let report = try await fixture.other.storeFacts(fact)
        #expect(report.inserted == 1 && report.existed == 2, "4 is unknown, 5 was sent after all")
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.sent == 2 && progress.unknown == 1 && progress.canceled == 17)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test("The duty waits for no lock")
    func dutyDoesNotWait() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        try await fixture.sql("UPDATE pushmta_engine.delivery SET valid_until = now() - interval '1 s'")
        let holder = try await fixture.hold("SELECT 1 FROM pushmta_engine.delivery WHERE id = \(id) FOR UPDATE")
        #expect(try await fixture.store.finishRest() == 0)
        try await holder.run(script: "ROLLBACK; BEGIN; \(StoreFixture.claimScript(id))")
        #expect(try await fixture.store.finishRest() == 1)
        try await holder.run(script: "COMMIT")
        #expect(try await fixture.parts(id, "claimed") == 1)
    }

    @Test("A part end waits for the delivery before it locks its part, so there is no deadlock")
    func order() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        var batch = OutcomeBatch()
        batch.append(part, try await fixture.store.loadPart(part, fieldNames: []), rows: 0..<20, .sent)
        batch.closing = [ClosingPart(part: part.id, token: 1)]
        let end = batch
        let holder = try await fixture.hold("SELECT 1 FROM pushmta_engine.delivery WHERE id = \(id) FOR UPDATE")
        let task = Task { try await fixture.store.storeOutcomes(end) }
        try await fixture.waitForLock()
        try await holder.run(
            script: "SELECT 1 FROM pushmta_engine.delivery_part WHERE id = \(part.id) FOR UPDATE NOWAIT"
        )
        try await holder.run(script: "COMMIT")
        #expect(try await task.value.closedParts == [part.id])
    }

    @Test("An owner that renews its lease at the last moment keeps its part")
    func renewedAfterAll() async throws {
        let (fixture, _) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let part = try required(try await fixture.claim().first)
        let token = PartToken(part: part.id, token: part.fencingToken)
        let seen = try required(try await fixture.store.leases().first).renewal
        let renew = "UPDATE pushmta_engine.delivery_part SET renewal = renewal + 1 WHERE id = \(part.id)"
        try await fixture.during(renew) {
            let isTaken = try await fixture.other.releasePart(token, ambiguousThroughMark: true, renewal: seen)
            #expect(!isTaken, "its renewal was under way when the sweep lost timeout")
        }
        let now = try required(try await fixture.store.leases().first).renewal
        #expect(try await fixture.other.releasePart(token, ambiguousThroughMark: true, renewal: now))
    }

    @Test("A wait for a lock ends, so that the leases that wait after it are renewed")
    func lockTimeout() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        let parts = try await fixture.claim(limit: 2)
        let (closed, other) = (try required(parts.first), try required(parts.last))
        var batch = OutcomeBatch()
        batch.append(closed, try await fixture.store.loadPart(closed, fieldNames: []), rows: 0..<20, .sent)
        batch.closing = [ClosingPart(part: closed.id, token: 1)]
        var configuration = fixture.store.configuration
        configuration.lockTimeoutMilliseconds = 50
        let child = Store(configuration: configuration)
        let owner = try required(try await fixture.store.leases().first).owner
        let holder = try await fixture.hold("SELECT 1 FROM pushmta_engine.delivery WHERE id = \(id) FOR UPDATE")
        let end = batch
        let storing = Task { try await child.storeOutcomes(end) }
        let held = try await child.renewLeases(child: owner, [PartToken(part: other.id, token: 1)])
        #expect(held == [other.id])
        let error = await #expect(throws: PostgresError.self) { _ = try await storing.value }
        #expect(error?.sqlState == "55P03" && error?.isRetryable == true)
        try await holder.run(script: "COMMIT")
        #expect(try await child.storeOutcomes(end).closedParts == [closed.id])
        await child.close()
    }

    @Test("Part ends queue behind a pause, so it need not wait for a moment without any")
    func fairness() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        let parts = try await fixture.claim(limit: 2)
        let turn = "SELECT pushmta_engine.share_turn(ARRAY[\(id)])::integer"
        #expect(try await fixture.sql(turn) == 1)
        let holder = try await fixture.database.connect()
        try await holder.run(script: "BEGIN")
        _ = try await holder.execute(DeliveryLock.statement(parts: [parts[0].id]))
        let pausing = Task { try await fixture.store.pauseDelivery(id) }
        try await fixture.waitForLock()
        #expect(try await fixture.sql(turn) == 0, "who pauses goes first")
        try await holder.run(script: "COMMIT")
        try await pausing.value
        #expect(try await fixture.sql(turn) == 1)
        #expect(try await fixture.store.releasePart(PartToken(part: parts[1].id, token: 1)))
        #expect(try await fixture.parts(id, "waiting") == 1)
        await holder.close()
    }
}
