import LaboratoryStore
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@Suite("Pause, resume and stop")
struct ControlTests {
    private func state(_ fixture: StoreFixture, _ id: Int64) async throws -> DeliveryState {
        try await fixture.store.deliveryProgress(id).state
    }

    @Test("A delivery that waits for its start is paused and waits again")
    func pending() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        let id = try await fixture.startedDelivery()
        try await fixture.store.pauseDelivery(id)
        try await fixture.store.pauseDelivery(id)
        #expect(try await state(fixture, id) == .paused)
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first == nil)
        try await fixture.store.resumeDelivery(id)
        try await fixture.store.resumeDelivery(id)
        #expect(try await state(fixture, id) == .pending)
        try await fixture.prepare()
        #expect(try await fixture.store.deliveryProgress(id).target == 100)
    }

    @Test("A delivery in preparation continues from its cursor, at once and on any host")
    func preparing() async throws {
        let fixture = try await StoreFixture.make()
        try await fixture.store.seedSubscriptions(application: "shop-ios", count: 100)
        let id = try await fixture.startedDelivery()
        let job = try required(try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first)
        #expect(try await fixture.store.prepareChunk(job, partSize: 10, partsPerChunk: 2).messages == 20)
        try await fixture.store.pauseDelivery(id)
        #expect(try await fixture.parts(id, "waiting") == 2)
        let refused = try await fixture.store.prepareChunk(job, partSize: 10, partsPerChunk: 2)
        #expect(refused.done && refused.messages == 0)
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "other").first == nil)
        try await fixture.store.resumeDelivery(id)
        #expect(try await state(fixture, id) == .preparing)
        #expect(try await fixture.parts(id, "ready") == 2)
        let again = try required(try await fixture.store.claimDeliveriesToPrepare(host: "other").first)
        #expect(again.resumed)
        while try await !fixture.store.prepareChunk(again, partSize: 10, partsPerChunk: 2).done {}
        #expect(try await state(fixture, id) == .inProgress)
        #expect(try await fixture.parts(id, "ready") == 10)
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test("No part of a paused delivery is claimed; a child keeps the parts it holds until it releases them")
    func inProgress() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 60, partSize: 20)
        let held = try required(try await fixture.claim().first)
        #expect(held.deliveryState == .inProgress && !held.isProbe)
        try await fixture.store.pauseDelivery(id)
        #expect(try await fixture.claim().isEmpty)
        #expect(try await fixture.store.readyWork().isEmpty)
        let state = try await fixture.store.sendingState(
            application: held.applicationID,
            account: 1,
            deliveries: [id, 99]
        )
        #expect(state.deliveries == [id: .paused] && state.circuit == .closed && !state.isCircuitOpen)
        let token = PartToken(part: held.id, token: held.fencingToken)
        #expect(try await fixture.store.mark([PartMark(part: held.id, token: 1, through: 5)]) == [held.id])
        #expect(try await fixture.store.releasePart(token, recovery: PartRecovery(ambiguous: [1])))
        #expect(try await fixture.parts(id, "waiting") == 3)
        #expect(try await fixture.store.finishRest() == 0)
        try await fixture.store.resumeDelivery(id)
        #expect(try await fixture.claim(limit: 5).count == 3)
        #expect(try await fixture.store.snapshot(delivery: id).faults.isEmpty)
    }

    @Test("A stop before the end cancels everything that no child holds, without a row for each message")
    func stop() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 100, partSize: 10)
        let held = try required(try await fixture.claim().first)
        try await fixture.store.stopDelivery(id)
        try await fixture.store.stopDelivery(id)
        var progress = try await fixture.store.deliveryProgress(id)
        #expect(
            progress.state == .stopped && progress.finishedAt == nil && progress.canceled == 90
                && progress.pending == 10
        )
        #expect(try await fixture.sql("SELECT count(*) FROM pushmta_engine.broad_log") == 0)
        #expect(try await fixture.store.hasOpenDeliveries(), "its last part is not at its end")
        #expect(try await fixture.store.finishRest() == 0)
        var batch = OutcomeBatch()
        batch.append(held, try await fixture.store.loadPart(held, fieldNames: []), rows: 0..<4, .sent)
        batch.closing = [ClosingPart(part: held.id, token: 1, restStatus: .canceled, restReason: "stopped")]
        #expect(try await fixture.store.storeOutcomes(batch).closedParts == [held.id])
        #expect(try await fixture.store.finishRest() == 0)
        progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.finishedAt != nil && progress.sent == 4 && progress.canceled == 96)
        #expect(try await !fixture.store.hasOpenDeliveries())
        #expect(try await fixture.store.snapshot(delivery: id).faults == [])
    }

    @Test(
        "A delivery without parts ends at once when it is stopped",
        arguments: ["editing", "pending", "preparing", "paused"]
    )
    func stopEarly(_ wanted: String) async throws {
        let fixture = try await StoreFixture.make()
        let id = try await fixture.startedDelivery(explicit: wanted == "editing")
        var job: PreparationJob?
        if wanted == "preparing" { job = try await fixture.store.claimDeliveriesToPrepare(host: fixture.host).first }
        if wanted == "paused" { try await fixture.store.pauseDelivery(id) }
        #expect(try await state(fixture, id).rawValue == wanted)
        try await fixture.store.stopDelivery(id)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.state == .stopped && progress.finishedAt != nil)
        #expect(try await fixture.store.claimDeliveriesToPrepare(host: "other").first == nil)
        if let job { #expect(try await fixture.store.prepareChunk(job).done) }
        #expect(try await state(fixture, id) == .stopped)
    }

    @Test("An impossible pause, resume or stop is refused with a reason")
    func refusals() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        func code(_ body: () async throws -> Void) async -> StoreError.Code? {
            do { try await body() } catch { return (error as? StoreError)?.code }
            return nil
        }
        let store = fixture.store
        let editing = try await fixture.startedDelivery(explicit: true)
        #expect(await code { try await store.pauseDelivery(99) } == .notFound)
        #expect(await code { try await store.pauseDelivery(editing) } == .conflict)
        #expect(await code { try await store.resumeDelivery(editing) } == .conflict)
        try await store.stopDelivery(id)
        try await store.stopDelivery(id)
        let finished = try await fixture.startedDelivery()
        try await fixture.sql("UPDATE pushmta_engine.delivery SET state = 'finished' WHERE id = \(finished)")
        #expect(await code { try await store.stopDelivery(finished) } == .conflict)
        #expect(await code { try await store.pauseDelivery(id) } == .conflict)
        #expect(await code { try await store.resumeDelivery(id) } == .conflict)
    }

    @Test("A stopped delivery ends when its last part is released, and never takes a part from its owner")
    func stopAndRelease() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 40, partSize: 20)
        let held = try required(try await fixture.claim().first)
        try await fixture.store.stopDelivery(id)
        #expect(try await fixture.store.leases().map(\.partID) == [held.id])
        #expect(try await fixture.store.deliveryProgress(id).finishedAt == nil)
        #expect(try await fixture.store.releasePart(PartToken(part: held.id, token: 1)))
        #expect(try await fixture.claim().isEmpty)
        #expect(try await fixture.store.finishRest() == 1)
        let progress = try await fixture.store.deliveryProgress(id)
        #expect(progress.canceled == 40 && progress.finishedAt != nil && progress.state == .stopped)
        let reasons = try await fixture.store.outcomeCounts(delivery: id)
        #expect(reasons == [OutcomeCount(status: .canceled, reason: "stopped", count: 40)])
    }

    @Test("Marketing systems may control deliveries, monitoring may not")
    func roles() async throws {
        let (fixture, id) = try await StoreFixture.prepared(messages: 20, partSize: 20)
        let marketing = try await fixture.database.connect()
        try await marketing.run(script: "SET ROLE pushmta_marketing")
        for function in ["pause_delivery", "resume_delivery", "undo_token_effects", "stop_delivery"] {
            try await marketing.execute(PostgresStatement("SELECT pushmta.\(function)(\(id))", prepare: false))
        }
        let monitoring = try await fixture.database.connect()
        try await monitoring.run(script: "SET ROLE pushmta_monitoring")
        try await monitoring.execute(PostgresStatement("SELECT * FROM pushmta.ambiguous_message", prepare: false))
        try await monitoring.execute(PostgresStatement("SELECT * FROM pushmta.application", prepare: false))
        await #expect {
            try await monitoring.execute(PostgresStatement("SELECT pushmta.pause_delivery(\(id))", prepare: false))
        } throws: {
            ($0 as? PostgresError)?.sqlState == "42501"
        }
    }
}
