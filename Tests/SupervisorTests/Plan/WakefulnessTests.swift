import Store
import Testing

@testable import Supervisor

@Suite struct WakefulnessTests {
    private let time = ManualTime()

    private func part(_ id: Int64) -> ReadyMessagePart { ReadyMessagePart(id: id, applicationID: 1, accountID: 10) }

    @Test func itSleepsUntilAMessageComes() {
        var state = Wakefulness()
        #expect(state.isAsleep)
        #expect(state.saw([], at: time[0]) == Wakefulness.Look())
        #expect(state.isAsleep)
        let found = state.saw([part(7)], at: time[1])
        #expect(found == .init(parts: [part(7)], looksForWork: true, pause: Wakefulness.lookInterval))
        #expect(!state.isAsleep)
    }

    @Test func itLooksOftenForAWhileAndABitLongerThanItSays() {
        var state = Wakefulness()
        state.wake(at: time[0])
        #expect(!state.isAsleep)
        #expect(state.saw([], at: time[9.9]).pause == Wakefulness.lookInterval)
        #expect(!state.isAsleep)
        #expect(
            state.saw([], at: time[10]).pause == Wakefulness.lookInterval,
            "somebody may have read that it is awake"
        )
        #expect(state.isAsleep)
        #expect(state.saw([], at: time[11]).pause == nil)
        #expect(state.saw([part(1)], at: time[12]).pause == Wakefulness.lookInterval, "found by the seldom look")
        #expect(!state.isAsleep)
    }

    @Test func childrenHearOfEachMessageAtOnceAndOfTheSameOneNowAndThen() {
        var state = Wakefulness()
        #expect(state.saw([part(1)], at: time[0]).parts == [part(1)])
        #expect(state.saw([part(1)], at: time[0.005]).parts.isEmpty)
        let new = state.saw([part(1), part(2)], at: time[0.01])
        #expect(new.parts == [part(2)] && !new.looksForWork, "somebody has just looked whether there are children")
        #expect(state.saw([part(2)], at: time[0.2]).parts.isEmpty)
        let late = state.saw([part(2)], at: time[0.25])
        #expect(late.parts == [part(2)] && late.looksForWork)
        #expect(state.saw([], at: time[0.3]).parts.isEmpty)
    }

    @Test func whatNobodyTakesDoesNotKeepItAwake() {
        var state = Wakefulness()
        _ = state.saw([part(1)], at: time[0])
        for second in 1...12 { _ = state.saw([part(1)], at: time[Double(second)]) }
        #expect(state.isAsleep)
        #expect(state.saw([part(1)], at: time[13]).pause == nil)
    }
}
