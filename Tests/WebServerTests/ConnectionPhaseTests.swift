import Testing

@testable import HTTPConnections

@Suite struct ConnectionPhaseTests {
    private let limits = ConnectionPhase.Limits(header: 10, body: 20, idle: 100, write: 30)

    @Test func eachPhaseHasItsDeadline() {
        var phase = ConnectionPhase(limits: limits, now: 0)
        #expect(phase.lapse(now: 9) == .wait(until: 10))
        #expect(phase.lapse(now: 10) == .close)
        phase.received(now: 5)
        #expect(phase.deadline == 15)
        // More bytes of the same head do not extend the time.
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

    @Test func whoTakesNothingHasADeadlineToo() {
        var phase = ConnectionPhase(limits: limits, now: 0)
        phase.readHead(now: 1)
        phase.readEnd(now: 1)
        #expect(phase.deadline == nil)
        phase.stalled(now: 10, pending: 1_000)
        #expect(phase.lapse(now: 39) == .wait(until: 40))
        #expect(phase.lapse(now: 40) == .close)
        // A slow client has read something since.
        phase.looked(now: 40, pending: 900)
        #expect(phase.lapse(now: 69) == .wait(until: 70))
        phase.looked(now: 70, pending: 900)
        #expect(phase.lapse(now: 70) == .close)
        phase.flowed(now: 71)
        #expect(phase.lapse(now: 1_000) == .wait(until: nil))
    }

    /// Its bytes are not read meanwhile, so they cannot be late.
    @Test func nothingIsExpectedOfWhoTakesNothing() {
        var phase = ConnectionPhase(limits: limits, now: 0)
        phase.received(now: 1)
        phase.stalled(now: 5, pending: 10)
        #expect(phase.lapse(now: 30) == .wait(until: 35))
        phase.flowed(now: 30)
        #expect(phase.lapse(now: 30) == .wait(until: 40))
        #expect(phase.lapse(now: 40) == .timeout)
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
        // Nothing is read after a request that is being answered: the time for the body begins with its answer.
        #expect(phase.deadline == nil)
        phase.answered(now: 3)
        #expect(!phase.owesAnswer)
        #expect(phase.deadline == 23)
        // An answer before the body has arrived, such as 413.
        phase.answered(now: 4)
        phase.readEnd(now: 5)
        #expect(!phase.owesAnswer)
        #expect(phase.deadline == 105)
    }
}
