import Testing

@testable import MTAChild

@Suite struct LoadTroublesTests {
    private let start = ContinuousClock.now

    @Test func oneIsTriedAfterAWaitThatDoubles() {
        var troubles = LoadTroubles()
        var now = start
        #expect(troubles.reason(ofDelivery: 1, at: now) == nil)
        for seconds in [5, 10, 20, 40, 60, 60] {
            troubles.failed(1, "gone", at: now)
            // Three parts read at the same moment.
            troubles.failed(1, "gone", at: now)
            troubles.failed(1, "gone", at: now + .seconds(1))
            #expect(troubles.reason(ofDelivery: 1, at: now) == "gone")
            #expect(troubles.reason(ofDelivery: 2, at: now) == nil, "others are loaded")
            now += .seconds(seconds)
            #expect(troubles.reason(ofDelivery: 1, at: now - .milliseconds(1)) == "gone")
            #expect(troubles.reason(ofDelivery: 1, at: now) == nil)
        }
        troubles.loaded(1)
        troubles.failed(1, "gone again", at: now)
        #expect(troubles.reason(ofDelivery: 1, at: now + .seconds(5)) == nil, "the wait starts again")
    }

    @Test func itForgetsWhatIsOver() {
        var troubles = LoadTroubles()
        for id in 1...1_000 { troubles.failed(Int64(id), "gone", at: start + .seconds(id)) }
        #expect(troubles.reason(ofDelivery: 1_000, at: start + .seconds(1_000)) == "gone")
        #expect(troubles.troubles.count <= 64)
    }
}
