import Testing

@testable import MTAChild

@Suite struct AnsweredLatelyTests {
    @Test func whatIsOlderThanTwoMinutesSaysNothing() {
        var answered = AnsweredLately()
        answered.add(900, at: .seconds(10))
        #expect(answered.count(at: .seconds(30)) == 900)
        answered.add(5, at: .seconds(75))
        #expect(answered.count(at: .seconds(100)) == 905)
        #expect(answered.count(at: .seconds(140)) == 5)
        #expect(answered.count(at: .seconds(3_600)) == 0)
        answered.add(5_000, at: .seconds(3_601))
        #expect(answered.count(at: .seconds(3_602)) == 1_000)
    }
}
