import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct CounterCheckTests {
    private let whole = CounterCheck.Counters(unknown: 4, resent: 3, late: 2, replayed: 1)

    @Test func aKilledChildMayHaveToldLess() {
        let less = CounterCheck.Counters(unknown: 4, resent: 1, late: 0, replayed: 1)
        #expect(CounterCheck.faults(deliveries: whole, children: less, hosts: less).isEmpty)
    }

    @Test func moreThanTheDeliveriesKnowIsWrong() {
        let more = CounterCheck.Counters(unknown: 4, resent: 4, late: 2, replayed: 1)
        let faults = CounterCheck.faults(deliveries: whole, children: more, hosts: more)
        #expect(faults == ["resent_after_ambiguity: the children counted 4, the deliveries only 3"])
    }

    @Test func withoutAKillChildrenHaveCountedAll() {
        #expect(CounterCheck.differences(deliveries: whole, children: whole).isEmpty)
        let less = CounterCheck.Counters(unknown: 4, resent: 0, late: 0, replayed: 0)
        #expect(
            CounterCheck.differences(deliveries: whole, children: less)
                == ["resent_after_ambiguity: the children counted 0, the deliveries 3"]
        )
    }

    @Test func hostsAreTheSumsOfTheirChildren() {
        let other = CounterCheck.Counters(unknown: 4, resent: 3, late: 2, replayed: 0)
        #expect(CounterCheck.faults(deliveries: whole, children: whole, hosts: other).count == 1)
        #expect(CounterCheck.faults(deliveries: whole, children: whole, hosts: nil).isEmpty)
    }
}
