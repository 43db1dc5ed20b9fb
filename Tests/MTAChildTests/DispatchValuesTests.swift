import PushCore
import Store
import Testing

@testable import MTAChild

@Suite struct DispatchWindowTests {
    @Test func oneSliceAlwaysHasRoom() {
        let window = DispatchWindow(most: 10, mostBytes: 100)
        #expect(window.admits(1_000, bytes: 1_000))
    }

    @Test func messagesAndBytesHaveLimits() {
        var window = DispatchWindow(most: 10, mostBytes: 100)
        window.unresolved = 6
        #expect(window.admits(4, bytes: 100))
        #expect(!window.admits(5, bytes: 100))
        #expect(!window.admits(4, bytes: 101))
    }

    @Test func aSixteenthIsForUrgentMessages() {
        var window = DispatchWindow(most: 4_000, mostBytes: .max)
        window.unresolved = 3_750
        #expect(!window.admits(1, bytes: 1) && window.admits(250, bytes: 1, isUrgent: true))
        #expect(!window.admits(251, bytes: 1, isUrgent: true), "the window is the bound of what may be lost")
    }

    @Test func whatWouldEndAsUnknownHasLessRoom() {
        let window = DispatchWindow(most: 4_000, ceiling: 40_000, mostBytes: .max)
        #expect(window.admitsReported(1_000, beside: 1_000, unstored: 2_000))
        #expect(!window.admitsReported(1_000, beside: 1_001, unstored: 0))
        #expect(!window.admitsReported(1_000, beside: 1_000, unstored: 2_001), "their outcomes are not stored")
        #expect(!window.admitsReported(1, beside: 0, unstored: 4_000), "none of their outcomes can be stored")
        #expect(!window.admitsReported(5_000, beside: 0, unstored: 1))
        #expect(window.admitsReported(5_000, beside: 0, unstored: 0), "one slice always has room")
    }

    @Test func aWindowFollowsTheStreams() {
        var window = DispatchWindow(most: 4_000, ceiling: 60_000, mostBytes: .max)
        for (streams, most, breadth) in [
            (0, 4_000, 1.0), (4_000, 7_000, 1), (5_000, 8_000, 1), (16_000, 19_000, 1), (24_000, 30_000, 1.5),
            (45_000, 54_000, 2),
            (55_000, 60_000, 2), (1_000, 4_000, 1),
        ] {
            window.adapt(streams: streams, batchSize: 2_000)
            #expect(window.most == most && window.breadth == breadth, "\(streams)")
        }
        var fixed = DispatchWindow(most: 1_000, mostBytes: .max)
        fixed.adapt(streams: 45_000, batchSize: 2_000)
        #expect(fixed.most == 1_000 && fixed.breadth == 1, "the setting is smaller")
    }

    @Test func theRoomOfMarksIsFreedOnce() {
        var window = DispatchWindow(most: 10, mostBytes: .max)
        window.unresolved = 7
        window.beginMarking(4)
        #expect(window.isMarking)
        window.endMarking()
        #expect(!window.isMarking && window.unresolved == 3)
        window.endMarking()
        #expect(window.unresolved == 3)
    }
}

@Suite struct OutcomeQueueTests {
    private let claim = PartToken(part: 1, token: 1)

    @Test func anEmptyQueueHasNothingToTake() {
        var queue = OutcomeQueue(batchSize: 2)
        let taken = queue.take()
        #expect(taken == nil && queue.isEmpty && queue.number == 1)
    }

    @Test func whatIsTakenIsUnderWayUntilItIsStored() throws {
        var queue = OutcomeQueue(batchSize: 2)
        queue.outcomes.closing.append(
            ClosingPart(
                part: 1,
                token: 1,
                resentAfterAmbiguity: 0,
                ambiguous: [],
                restStatus: .canceled,
                restReason: ""
            )
        )
        queue.windowRows = 3
        #expect(!queue.isEmpty)
        let first = queue.take()
        let taken = try #require(first)
        #expect(taken.windowRows == 3 && taken.batch.closing.count == 1)
        #expect(queue.outcomes.isEmpty && queue.windowRows == 0 && queue.number == 2)
        #expect(!queue.isEmpty && queue.stored == 0)
        queue.wasStored()
        #expect(queue.isEmpty && queue.stored == 1)
    }

    @Test func aQueueIsFullWithABatchOfTheBreadthOrWithWhatWouldEndAsUnknown() {
        var queue = OutcomeQueue(batchSize: 3)
        let usual = DispatchWindow(most: 4_000, ceiling: 60_000, mostBytes: .max)
        var wide = usual
        wide.adapt(streams: 32_000, batchSize: 3)
        for row in 1...5 {
            #expect(queue.isFull(for: usual) == (row > 3) && !queue.isFull(for: wide))
            #expect(queue.isFull(for: DispatchWindow(most: 4, mostBytes: .max)) == (row > 2), "half the window")
            queue.outcomes.append(part: 1, token: 1, sequence: Int32(row), subscriptionID: Int64(row), status: .sent)
        }
        #expect(queue.isFull(for: usual) && !queue.isFull(for: wide))
        queue.reported = OutcomeQueue.reportedBatch
        #expect(queue.isFull(for: wide))
        _ = queue.take()
        #expect(
            !queue.isFull(for: usual) && queue.reported == 0 && queue.reportedUnstored == OutcomeQueue.reportedBatch
        )
        queue.outcomes.append(part: 1, token: 1, sequence: 6, subscriptionID: 6, status: .sent)
        queue.reported = 1
        _ = queue.take()
        #expect(queue.reportedUnstored == OutcomeQueue.reportedBatch + 1)
        queue.wasStored()
        #expect(queue.reportedUnstored == 1)
        queue.wasStored()
        #expect(queue.reportedUnstored == 0)
    }

    @Test func aPartLeavesWhenItsLastBatchIsStored() {
        var queue = OutcomeQueue(batchSize: 10)
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

@Suite struct SendPermissionTests {
    @Test(arguments: [(true, false, true), (false, false, false), (true, true, false), (false, true, false)])
    func bothLeaseAndStayAreNeeded(_ isLeaseValid: Bool, _ isShuttingDownFast: Bool, _ maySend: Bool) {
        #expect(SendPermission(isLeaseValid: isLeaseValid, isShuttingDownFast: isShuttingDownFast).maySend == maySend)
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

    /// The database's look at a delivery may be older than what this child has found.
    @Test func aHoldLastsUntilTheDatabaseKnowsIt() {
        var pauses = DeliveryPauses()
        #expect(pauses.hold(1) == true && pauses.hold(1) == false)
        #expect(pauses.take(nil, of: 1) == false)
        #expect(pauses.halts == [1: .giveBack])
        // Now it knows: whoever lets it go on from here on means it.
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
