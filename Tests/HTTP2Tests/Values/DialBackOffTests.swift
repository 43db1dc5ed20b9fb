import Testing

@testable import HTTP2

@Suite struct DialBackOffTests {
    @Test func doublesUpToItsMaximumWithJitter() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        var backOff = DialBackOff(firstMilliseconds: 1_000, maximumMilliseconds: 60_000)
        for step in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000] as [Int64] {
            let pause = backOff.next(using: &random)
            #expect((step / 2...step).contains(pause), "seed \(seed)")
        }
    }

    @Test func staysAtItsMaximumForEver() {
        var random = SeededGenerator(seed: 1)
        var backOff = DialBackOff(firstMilliseconds: 1_000, maximumMilliseconds: 60_000)
        for _ in 0..<1_000 { #expect(backOff.next(using: &random) <= 60_000) }
        #expect(backOff.attempt == 1_000)
    }

    @Test func beginsAnewAfterReset() {
        var random = SeededGenerator(seed: 2)
        var backOff = DialBackOff(firstMilliseconds: 100, maximumMilliseconds: 60_000)
        for _ in 0..<10 { _ = backOff.next(using: &random) }
        backOff.reset()
        #expect(backOff.attempt == 0)
        #expect(backOff.next(using: &random) <= 100)
    }

    @Test func differsFromProcessToProcess() {
        let pauses = (0..<100 as Range<UInt64>).map { seed in
            var random = SeededGenerator(seed: seed)
            var backOff = DialBackOff(firstMilliseconds: 60_000, maximumMilliseconds: 60_000)
            return backOff.next(using: &random)
        }
        #expect(Set(pauses).count > 90)
    }

    @Test func bearsSenselessSettings() {
        var random = SeededGenerator(seed: 3)
        var backOff = DialBackOff(firstMilliseconds: 0, maximumMilliseconds: -5)
        for _ in 0..<100 { #expect(backOff.next(using: &random) == 1) }
    }
}
