import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct RateMeterTests {
    private let start = ContinuousClock.now

    private func moment(_ seconds: Double) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    /// 1,000 a second for five seconds, nothing for three, then 1,000 a second again.
    private var meter: RateMeter {
        let meter = RateMeter()
        for tenth in 0...120 {
            let count = tenth <= 50 ? tenth * 100 : tenth <= 80 ? 5_000 : 5_000 + (tenth - 80) * 100
            meter.add(RateMeter.Sample(moment: moment(Double(tenth) / 10), count: Int64(count)))
        }
        return meter
    }

    @Test func theUsualRateIsTheMedianBefore() throws {
        let rate = try #require(meter.medianRate(before: moment(5)))
        #expect((990...1_010).contains(rate))
        #expect(meter.medianRate(before: moment(0.5)) == nil)
    }

    @Test func recoveryIsTheEndOfTheFirstSecondWithTheOldRate() throws {
        let seconds = try #require(meter.secondsToRate(1_000, after: moment(5)))
        #expect((3.9...4.1).contains(seconds))
        #expect(meter.secondsToRate(2_000, after: moment(5)) == nil)
    }

    @Test func theLongestPauseLiesBetweenTwoAcceptances() {
        #expect(abs((meter.maxPause(from: moment(0), to: moment(12)) - .seconds(3.1)) / .seconds(1)) < 0.11)
        #expect(meter.maxPause(from: moment(0), to: moment(5)) <= .seconds(0.21))
        // A pause that has not ended counts up to now.
        #expect(meter.maxPause(from: moment(4), to: moment(7)) >= .seconds(1.9))
    }
}
