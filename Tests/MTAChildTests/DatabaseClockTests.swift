import Store
import Testing

@testable import MTAChild

@Suite struct DatabaseClockTests {
    /// The clock is set back by twenty minutes between two readings whose answers arrive out of order.
    @Test func anAnswerThatWasAskedForEarlierDoesNotReplaceALaterOne() {
        let start = ContinuousClock.now
        let ahead = DatabaseTime(microsecondsSince1970: 2_000_000_000_000_000)
        let clock = DatabaseClock(ahead)
        let right = ahead.advanced(byMilliseconds: -1_200_000)
        clock.set(right, askedAt: start + .seconds(20))
        clock.set(ahead, askedAt: start + .seconds(10))
        #expect(clock.nowMilliseconds < right.microsecondsSince1970 / 1_000 + 600_000)
        clock.set(ahead, askedAt: start + .seconds(30))
        #expect(clock.nowMilliseconds >= ahead.microsecondsSince1970 / 1_000)
    }
}
