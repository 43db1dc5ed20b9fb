import PushCore
import Store
import Testing

@testable import MTAChild

@Suite struct MassFailureGuardTests {
    private let part = PartToken(part: 1, token: 1)
    private let refused = Outcome(
        index: 0,
        outcomeClass: .permanent,
        status: 400,
        reason: "BadDeviceToken",
        tokenEffect: .invalid(sinceMilliseconds: nil),
        isTokenDoubtful: true
    )

    @Test func aFifthOfTheWindowIsNoAccidentOneMoreIs() {
        var guarding = MassFailureGuard()
        for row in 0..<Int32(MassFailureGuard.limit) {
            guarding.hold(part, row: row, refused)
            for _ in 0..<4 { guarding.count() }
        }
        #expect(guarding.doubtfulCount == MassFailureGuard.limit)
        #expect(!guarding.isTripped)
        // The first of them leaves the window when this one comes.
        guarding.hold(part, row: 100, refused)
        #expect(!guarding.isTripped)
        guarding.hold(part, row: 101, refused)
        #expect(guarding.isTripped)
    }

    @Test func aMixUpTripsBeforeAnythingIsDecided() {
        var guarding = MassFailureGuard()
        for row in 0...Int32(MassFailureGuard.limit) {
            #expect(!guarding.isTripped)
            guarding.hold(part, row: row, refused)
            #expect(guarding.takeOld().isEmpty)
        }
        #expect(guarding.isTripped)
        #expect(guarding.heldCount == MassFailureGuard.limit + 1)
    }

    @Test(arguments: [(10, 0, false), (11, 0, true), (11, 43, true), (11, 44, false), (80, 0, true), (100, 400, false)])
    func whenQuietTheShareOfWhatThereIsCounts(_ doubtful: Int, _ others: Int, _ isTripped: Bool) {
        var guarding = MassFailureGuard()
        for row in 0..<doubtful { guarding.hold(part, row: Int32(row), refused) }
        for _ in 0..<others { guarding.count() }
        #expect(guarding.answersInWindow == Int64(doubtful + others))
        #expect(guarding.isTrippedWhenQuiet == isTripped)
        #expect(!guarding.isTripped, "more may come that says otherwise")
    }

    @Test func whatCameTogetherWithManyGoodAnswersIsNotForgotten() {
        var guarding = MassFailureGuard()
        for row in 0...Int32(MassFailureGuard.limit) { guarding.hold(part, row: row, refused) }
        for _ in 0..<MassFailureGuard.window { guarding.count() }
        #expect(guarding.doubtfulCount == 0)
        #expect(guarding.isTripped && guarding.isTrippedWhenQuiet)
    }

    @Test func whatLeavesTheWindowIsDecided() {
        var guarding = MassFailureGuard()
        guarding.hold(part, row: 7, refused)
        for _ in 0..<(MassFailureGuard.window - 1) { guarding.count() }
        #expect(guarding.takeOld().isEmpty)
        guarding.count()
        #expect(guarding.takeOld().map(\.row) == [7])
        #expect(guarding.isEmpty)
        #expect(guarding.doubtfulCount == 0)
    }

    @Test func aPartThatGoesTakesItsMessagesAlong() {
        var guarding = MassFailureGuard()
        let other = PartToken(part: 2, token: 1)
        guarding.hold(part, row: 1, refused)
        guarding.hold(other, row: 2, refused)
        #expect(guarding.drop(part) == 1)
        #expect(guarding.takeAll().map(\.row) == [2])
        #expect(guarding.doubtfulCount == 2, "the answers were given all the same")
    }

    @Test func aProbeNeedsFewer() {
        var guarding = MassFailureGuard()
        for row in 0..<Int32(MassFailureGuard.probeLimit) {
            #expect(!guarding.isTrippedByProbe)
            guarding.hold(part, row: row, refused)
        }
        #expect(guarding.isTrippedByProbe)
        #expect(!guarding.isTripped)
    }
}
