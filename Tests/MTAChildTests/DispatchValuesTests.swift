import PushCore
import Store
import Testing

@testable import MTAChild

@Suite struct DispatchWindowTests {
    @Test func oneSliceAlwaysHasRoom() {
        let window = DispatchWindow(size: 10, maxBytes: 100)
        #expect(window.admits(1_000, bytes: 1_000))
    }

    @Test func messagesAndBytesHaveLimits() {
        var window = DispatchWindow(size: 10, maxBytes: 100)
        window.enter(6)
        #expect(window.admits(4, bytes: 100))
        #expect(!window.admits(5, bytes: 100))
        #expect(!window.admits(4, bytes: 101))
    }

    @Test func aSixteenthIsForUrgentMessages() {
        var window = DispatchWindow(size: 4_000, maxBytes: .max)
        window.enter(3_750)
        #expect(!window.admits(1, bytes: 1) && window.admits(250, bytes: 1, isUrgent: true))
        #expect(!window.admits(251, bytes: 1, isUrgent: true), "the window is the bound of what may be lost")
    }

    @Test func whatWouldEndAsUnknownHasLessRoom() {
        let window = DispatchWindow(size: 4_000, ceiling: 40_000, maxBytes: .max)
        #expect(window.admitsReported(1_000, beside: 1_000, unstored: 2_000))
        #expect(!window.admitsReported(1_000, beside: 1_001, unstored: 0))
        #expect(!window.admitsReported(1_000, beside: 1_000, unstored: 2_001), "their outcomes are not stored")
        #expect(!window.admitsReported(1, beside: 0, unstored: 4_000), "none of their outcomes can be stored")
        #expect(!window.admitsReported(5_000, beside: 0, unstored: 1))
        #expect(window.admitsReported(5_000, beside: 0, unstored: 0), "one slice always has room")
    }

    @Test func aWindowFollowsTheStreams() {
        var window = DispatchWindow(size: 4_000, ceiling: 60_000, maxBytes: .max)
        for (streams, size, breadth) in [
            (0, 4_000, 1.0), (4_000, 7_000, 1), (5_000, 8_000, 1), (16_000, 19_000, 1), (24_000, 30_000, 1.5),
            (45_000, 54_000, 2),
            (55_000, 60_000, 2), (1_000, 4_000, 1),
        ] {
            window.adapt(streams: streams, batchSize: 2_000)
            #expect(window.size == size && window.breadth == breadth, "\(streams)")
        }
        var fixed = DispatchWindow(size: 1_000, maxBytes: .max)
        fixed.adapt(streams: 45_000, batchSize: 2_000)
        #expect(fixed.size == 1_000 && fixed.breadth == 1, "the setting is smaller")
    }

    @Test func theRoomOfMarksIsFreedOnce() {
        var window = DispatchWindow(size: 10, maxBytes: .max)
        window.enter(3)
        window.reserve(1)
        window.reserve(3)
        #expect(window.unresolved == 7)
        #expect(window.isMarking)
        window.endMarking()
        #expect(!window.isMarking && window.unresolved == 3)
        window.endMarking()
        #expect(window.unresolved == 3)
    }
}

@Suite struct OutboxTests {
    private func part(_ policy: AmbiguityPolicy = .resend) throws -> HeldPart {
        HeldPart(DispatchFixture.part(1, size: 9, delivery: try DispatchFixture.delivery(policy: policy)))
    }

    private func add(_ row: Int32, of part: HeldPart, to queue: inout Outbox) {
        queue.append(
            of: part,
            row: row,
            status: .sent,
            httpStatus: 200,
            reason: "",
            gatewayMessageID: nil,
            tokenEffect: .none,
            failure: nil,
            healsErrors: false,
            firstOf: nil,
            isDecision: false
        )
    }

    @Test func anEmptyQueueHasNothingToTake() {
        var queue = Outbox(batchSize: 2)
        let taken = queue.take()
        #expect(taken == nil && queue.isEmpty && queue.number == 1)
    }

    @Test func whatIsTakenIsUnderWayUntilItIsStored() throws {
        var queue = Outbox(batchSize: 2)
        queue.end(
            ClosingPart(
                part: 1,
                token: 1,
                resentAfterAmbiguity: 0,
                ambiguous: [],
                restStatus: .canceled,
                restReason: ""
            )
        )
        let part = try part()
        for _ in 0..<3 { queue.countRow(of: part) }
        #expect(!queue.isEmpty)
        let first = queue.take()
        let taken = try #require(first)
        #expect(taken.windowRows == 3 && taken.batch.closing.count == 1)
        #expect(queue.outcomes.isEmpty && queue.windowRows == 0 && queue.number == 2)
        #expect(!queue.isEmpty && queue.stored == 0)
        queue.wasStored()
        #expect(queue.isEmpty && queue.stored == 1)
    }

    @Test func aQueueIsFullWithABatchOfTheBreadthOrWithWhatWouldEndAsUnknown() throws {
        var queue = Outbox(batchSize: 3)
        let usual = DispatchWindow(size: 4_000, ceiling: 60_000, maxBytes: .max)
        var wide = usual
        wide.adapt(streams: 32_000, batchSize: 3)
        for row in 1...5 {
            #expect(queue.isFull(for: usual) == (row > 3) && !queue.isFull(for: wide))
            #expect(queue.isFull(for: DispatchWindow(size: 4, maxBytes: .max)) == (row > 2), "half the window")
            add(Int32(row), of: try part(), to: &queue)
        }
        #expect(queue.isFull(for: usual) && !queue.isFull(for: wide))
        let reported = try part(.report)
        for _ in 0..<Outbox.reportedBatch { queue.countRow(of: reported) }
        #expect(queue.isFull(for: wide))
        _ = queue.take()
        #expect(
            !queue.isFull(for: usual) && queue.reported == 0 && queue.reportedUnstored == Outbox.reportedBatch
        )
        add(6, of: reported, to: &queue)
        queue.countRow(of: reported)
        _ = queue.take()
        #expect(queue.reportedUnstored == Outbox.reportedBatch + 1)
        queue.wasStored()
        #expect(queue.reportedUnstored == 1)
        queue.wasStored()
        #expect(queue.reportedUnstored == 0)
    }

    @Test func aPartLeavesWhenItsLastBatchIsStored() {
        var queue = Outbox(batchSize: 10)
        let claims = (1...3).map { PartToken(part: $0, token: 1) }
        queue.leave(claims[0], lastBatch: 0)
        queue.leave(claims[1], lastBatch: 1)
        queue.leave(claims[2], lastBatch: 2)
        #expect(queue.leaving == [claims[1]: 1, claims[2]: 2], "the first has no outcome that is not stored")
        queue.wasStored()
        #expect(queue.leaving == [claims[2]: 2])
        queue.wasStored()
        #expect(queue.leaving.isEmpty)
    }
}

@Suite struct AdmissionTests {
    @Test func aReaderSeesTheLifeInOneState() {
        var admission = Admission()
        #expect(admission.state == .open && admission.maySend)
        admission.probeCircuit()
        #expect(admission.state == .probing && admission.maySend && admission.mayProbe)
        admission.closeCircuit()
        admission.leave()
        #expect(admission.state == .left && !admission.maySend && admission.givesBack)
        admission.becomeProber()
        #expect(admission.state == .probing && admission.maySend && !admission.mayProbe)
        admission.allowProbe()
        #expect(admission.mayProbe)
        admission.useProbe()
        #expect(!admission.mayProbe)
        admission.comeBack()
        #expect(admission.state == .open)
        // These two states are final.
        admission.shutDown()
        admission.comeBack()
        #expect(admission.state == .shuttingDown && !admission.maySend)
        let (isNew, isNewAgain) = (admission.openCircuit(), admission.openCircuit())
        #expect(isNew && !isNewAgain)
        admission.closeCircuit()
        #expect(admission.state == .circuitOpen && admission.givesBack)
    }

    @Test func nothingLeavesWithoutALease() {
        var admission = Admission()
        let runOut = [true, false, false].map { admission.lease(isValid: $0) }
        #expect(runOut == [false, true, false])
        #expect(!admission.maySend && !admission.givesBack && admission.state == .open)
        _ = admission.lease(isValid: true)
        #expect(admission.maySend)
    }

    @Test func aPermissionToProbeIsTheProbersAlone() {
        var admission = Admission()
        admission.allowProbe()
        #expect(admission.trouble == .none)
        admission.leave()
        admission.allowProbe()
        #expect(admission.state == .left)
    }
}

@Suite struct DeliveryPausesTests {
    private let stopped = DispatchState.Halt.close(.canceled, reason: "stopped")
    private let expired = DispatchState.Halt.close(.ignored, reason: "expired")

    @Test func aPauseBeginsOnceAndEnds() {
        var pauses = DeliveryPauses()
        #expect(pauses.take(.giveBack, of: 1) == true)
        #expect(pauses.take(.giveBack, of: 1) == false)
        #expect(pauses.halts == [1: .giveBack])
        #expect(pauses.take(nil, of: 1) == false)
        #expect(pauses.halts.isEmpty)
    }

    @Test func whatWasStoppedStaysSo() {
        var pauses = DeliveryPauses()
        #expect(pauses.take(.giveBack, of: 1) == true && pauses.take(stopped, of: 1) == true)
        #expect(pauses.take(nil, of: 1) == false && pauses.take(.giveBack, of: 1) == false)
        #expect(pauses.expire(1) == false && pauses.hold(1) == false)
        #expect(pauses.halts == [1: stopped])
    }

    @Test func aPausedDeliveryExpiresAllTheSame() {
        var pauses = DeliveryPauses()
        #expect(pauses.take(.giveBack, of: 1) == true && pauses.expire(1) == true)
        #expect(pauses.expire(1) == false)
        #expect(pauses.expire(2) == true)
        #expect(pauses.halts == [1: expired, 2: expired])
    }

    /// The database's state of a delivery may be older than what this child has found.
    @Test func aHoldLastsUntilTheDatabaseKnowsIt() {
        var pauses = DeliveryPauses()
        #expect(pauses.hold(1) == true && pauses.hold(1) == false)
        #expect(pauses.take(nil, of: 1) == false)
        #expect(pauses.halts == [1: .giveBack])
        // Now the database knows it: a later resume is a new decision.
        #expect(pauses.take(.giveBack, of: 1) == false)
        #expect(pauses.take(nil, of: 1) == false)
        #expect(pauses.halts.isEmpty)
    }

    @Test func whatIsForgottenWasHeldOrNot() {
        var pauses = DeliveryPauses()
        #expect(pauses.hold(1) == true && pauses.take(.giveBack, of: 2) == true)
        #expect(pauses.forget(1) == true && pauses.forget(2) == false)
        #expect(pauses.halts.isEmpty)
        #expect(pauses.take(nil, of: 1) == false)
    }

    @Test func aClaimSaysHowItsDeliveryIs() {
        var pauses = DeliveryPauses()
        pauses.claim(1, stopped)
        pauses.claim(1, nil)
        #expect(pauses.halts == [1: stopped])
    }
}

@Suite struct FlushScheduleTests {
    @Test func oneTimerRunsAtATime() {
        let flush = FlushSchedule(delay: .milliseconds(50))
        #expect(flush.begin() == true && flush.begin() == false)
        flush.end()
        #expect(flush.begin() == true)
    }
}
