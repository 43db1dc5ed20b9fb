import Testing

@testable import WebServer

@Suite struct ConnectionPhaseTests {
    private let limits = ConnectionPhase.Limits(header: 10, body: 20, idle: 100)

    @Test func eachPhaseHasItsDeadline() {
        var phase = ConnectionPhase(limits: limits, now: 0)
        #expect(phase.lapse(now: 9) == .wait(until: 10))
        #expect(phase.lapse(now: 10) == .close)
        phase.received(now: 5)
        #expect(phase.deadline == 15)
        // More bytes of the same head win no time.
        phase.received(now: 14)
        #expect(phase.lapse(now: 15) == .timeout)
        phase.readHead(now: 14)
        #expect(phase.lapse(now: 33) == .wait(until: 34))
        #expect(phase.lapse(now: 34) == .timeout)
        phase.received(now: 20)
        #expect(phase.deadline == 34)
        phase.readEnd(now: 40)
        #expect(phase.lapse(now: 1_000) == .wait(until: nil))
        phase.answered(now: 50)
        #expect(phase.lapse(now: 149) == .wait(until: 150))
        #expect(phase.lapse(now: 150) == .close)
        phase.received(now: 60)
        #expect(phase.deadline == 70)
    }

    @Test func anAnswerIsOwedForWholeRequestsOnly() {
        var phase = ConnectionPhase(limits: limits, now: 0)
        #expect(!phase.owesAnswer)
        phase.readHead(now: 1)
        #expect(!phase.owesAnswer)
        phase.readEnd(now: 1)
        #expect(phase.owesAnswer)
        phase.readHead(now: 2)
        #expect(phase.owesAnswer)
        phase.answered(now: 3)
        #expect(!phase.owesAnswer)
        #expect(phase.deadline == 22)
        // An answer before the body has come, such as 413.
        phase.answered(now: 4)
        phase.readEnd(now: 5)
        #expect(!phase.owesAnswer)
        #expect(phase.deadline == 105)
    }
}
