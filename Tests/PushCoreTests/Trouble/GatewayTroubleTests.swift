import TestSupport
import Testing

@testable import PushCore

/// The values that find a gateway's trouble, space the probes, and open again; all on a clock of the test's own.
@Suite struct GatewayTroubleTests {
    @Test func aRunOfFailuresIsTroubleAndAFewAmongManyAreNone() {
        var detector = TroubleDetector()
        for index in 0..<4 { detector.failed("503", at: .milliseconds(index)) }
        #expect(!detector.isTrouble(at: .milliseconds(4)))
        detector.failed("503", at: .milliseconds(5))
        #expect(detector.isTrouble(at: .milliseconds(5)))

        var busy = TroubleDetector()
        for index in 0..<10_000 {
            let moment = Duration.milliseconds(index)
            if index % 20 == 0 { busy.failed("503", at: moment) } else { busy.answered() }
            #expect(!busy.isTrouble(at: moment), "5 % is what a well gateway may refuse")
        }
    }

    @Test func halfOfAllIsTrouble() {
        let seed = TestRandom.seed(for: "half")
        var random = TestRandom(seed: seed)
        var detector = TroubleDetector()
        for _ in 0..<100 { detector.answered() }
        var entered: Int?
        for index in 0..<1_000 where entered == nil {
            let moment = Duration.microseconds(index)
            if Bool.random(using: &random) { detector.failed("503", at: moment) } else { detector.answered() }
            if detector.isTrouble(at: moment) { entered = index }
        }
        #expect(entered != nil, "seed \(seed)")
    }

    @Test func aLoneFailureIsTroubleAfterASecondWithoutAnythingElse() {
        var detector = TroubleDetector()
        detector.failed("503", at: .seconds(10))
        #expect(!detector.isTrouble(at: .milliseconds(10_999)))
        #expect(detector.isTrouble(at: .seconds(11)))
        detector.answered()
        #expect(!detector.isTrouble(at: .seconds(60)) && detector.isWell)
        detector.failed("503", at: .seconds(70))
        detector.forget()
        #expect(!detector.isTrouble(at: .seconds(100)), "nobody has waited for it")
    }

    @Test func whatIsSaidOfTheProjectNeedsNoSecondWord() {
        var detector = TroubleDetector()
        detector.failed("429", retryAfterMilliseconds: 30_000, isProjectWide: true, at: .seconds(1))
        #expect(detector.isTrouble(at: .seconds(1)))
        #expect(detector.notBefore == .seconds(31))
        detector.failed("429", retryAfterMilliseconds: 5_000, at: .seconds(2))
        #expect(detector.notBefore == .seconds(31), "the longest counts")
    }

    @Test func oneFailureIsNoTroubleAsLongAsOthersFollow() {
        var detector = TroubleDetector()
        for _ in 0..<100 { detector.answered() }
        detector.failed("503", at: .zero)
        #expect(!detector.isTrouble(at: .seconds(5), othersFollow: true))
        #expect(detector.isTrouble(at: .seconds(5)), "nobody else is there to find out")
        detector.failed("503", at: .seconds(5))
        #expect(detector.isTrouble(at: .seconds(5), othersFollow: true) && !detector.isCertain)
        detector.answered()
        #expect(!detector.isTrouble(at: .seconds(5)))
    }

    @Test func limitsOfSingleDevicesAreNoneUntilTheyAreAll() {
        var detector = TroubleDetector()
        for _ in 0..<100 { detector.answered() }
        detector.suspected("429")
        #expect(!detector.isTrouble(at: .seconds(3_600)), "a lone one says nothing, however long it stands")
        for _ in 0..<30 { detector.suspected("429") }
        #expect(detector.isTrouble(at: .seconds(3_600)))
    }

    @Test func probesComeAfterOneToFiveSecondsAndAfterWhatWasAskedFor() {
        let seed = TestRandom.seed(for: "probes")
        var random = TestRandom(seed: seed)
        let pauses = (0..<1_000).map { _ in ProbePace.pause(using: &random) }
        #expect(pauses.allSatisfy { $0 >= .seconds(1) && $0 <= .seconds(5) }, "seed \(seed)")
        #expect(pauses.contains { $0 < .milliseconds(1_500) } && pauses.contains { $0 > .milliseconds(4_500) })
        for _ in 0..<100 {
            let asked = ProbePace.pause(notBefore: .seconds(60), using: &random)
            #expect(asked >= .seconds(60) && asked <= .seconds(64), "recovery counts from its end")
        }
    }

    @Test func sendingBeginsAtAThousandASecondAndDoubles() {
        var ramp = OpeningRamp(start: .seconds(5), at: .seconds(5))
        var sent = 0
        var bySecond: [Int] = []
        for second in 0..<8 {
            for step in 0..<1_000 {
                let moment = Duration.seconds(5 + second) + .milliseconds(step)
                while ramp.admits(at: moment), sent < 10_000_000 {
                    ramp.count(10)
                    sent += 10
                }
            }
            bySecond.append(sent - bySecond.reduce(0, +))
        }
        for (second, count) in bySecond.enumerated() {
            let wanted = 1_000 << second
            #expect(abs(count - wanted) <= 40 + wanted / 50, "second \(second): \(count) of \(wanted)")
        }
        #expect(ramp.isOver(at: .seconds(15)) && ramp.admits(at: .seconds(15)))
        #expect(!OpeningRamp(start: .seconds(5), at: .seconds(5)).isOver(at: .seconds(1)), "a moment before the start")
    }

    @Test func silenceIsTroubleWhileMessagesWaitAndTheOwnerListens() {
        func isTrouble(_ looks: [(second: Int, isWaiting: Bool, isAnswered: Bool)]) -> Bool {
            var (silence, detector) = (AnswerSilence(), TroubleDetector())
            for look in looks {
                let moment = Duration.seconds(look.second)
                if look.isAnswered { silence.answered(at: moment) }
                silence.look(isWaiting: look.isWaiting, at: moment)
                if let since = silence.since { detector.silent(since: since, at: moment) }
            }
            return detector.isTrouble(at: .seconds(looks.last?.second ?? 0))
        }
        #expect(isTrouble((0...15).map { ($0, true, false) }))
        #expect(!isTrouble((0...14).map { ($0, true, false) }))
        #expect(!isTrouble((0...30).map { ($0, true, $0 % 14 == 0) }), "an answer now and then")
        #expect(!isTrouble((0...30).map { ($0, $0 % 14 != 0, false) }), "nothing waits")
        #expect(
            !isTrouble([(0, true, false), (1, true, false), (100, true, false), (101, true, false)]),
            "it was stopped"
        )
    }

    @Test func aLossOfAConnectionThatWasSilentIsTroubleAtOnce() {
        var detector = TroubleDetector()
        detector.failed("PING", silentSince: .seconds(1), at: .seconds(31))
        #expect(detector.isTrouble(at: .seconds(31)))
        detector = TroubleDetector()
        detector.failed("PING", silentSince: .seconds(31), at: .seconds(31))
        #expect(!detector.isTrouble(at: .seconds(31)) && detector.isTrouble(at: .seconds(32)))
    }

    @Test func severalProcessesShareTheRate() {
        var sent = 0
        for _ in 0..<4 {
            var ramp = OpeningRamp(start: .zero, sharers: 4, at: .zero)
            for step in 0..<1_000 {
                while ramp.admits(at: .milliseconds(step)) {
                    ramp.count(10)
                    sent += 10
                }
            }
        }
        #expect((960...1_080).contains(sent))
        var late = OpeningRamp(start: .zero, at: .seconds(3))
        late.count(10)
        #expect(!late.admits(at: .seconds(3)), "what could have left before is not made up for")
    }
}
