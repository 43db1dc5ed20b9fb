import NIOCore
import Testing

@testable import HTTP2

/// When connections may be dialled, on a clock that the test controls.
@Suite struct DialPacingTests {
    private struct World {
        var pacing: DialPacing
        var random: SeededGenerator
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)

        init(first: Int64 = 1_000, maximum: Int64 = 60_000, seed: UInt64 = 1) {
            pacing = DialPacing(firstMilliseconds: first, maxMilliseconds: maximum)
            random = SeededGenerator(seed: seed)
        }

        mutating func pass(_ milliseconds: Int64) { now = now + .milliseconds(milliseconds) }

        func dials(_ wanted: Int = 1, proven: Int = 0, unproven: Int = 0) -> Int {
            pacing.dials(wanted: wanted, proven: proven, unproven: unproven, at: now)
        }

        mutating func failed() -> DialPacing.Pause? { pacing.failed(at: now, using: &random) }

        mutating func broke(answered: Bool = false, after lifetime: Int64? = 0) -> DialPacing.Pause? {
            pacing.broke(answered: answered, lifetime: lifetime.map(TimeAmount.milliseconds), at: now, using: &random)
        }
    }

    @Test func doublesUpToItsMaximumWithJitter() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var world = World(seed: seed)
        for (number, step) in ([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000] as [Int64]).enumerated() {
            let made = world.failed()
            let pause = try #require(made, "seed \(seed)")
            #expect((step / 2...step).contains(pause.milliseconds), "seed \(seed)")
            #expect(pause.attempt == number + 1)
            #expect(world.dials() == 0)
            world.pass(pause.milliseconds)
            #expect(world.dials() == 1)
        }
    }

    @Test func staysAtItsMaximumForEver() {
        var world = World()
        for _ in 0..<1_000 {
            let pause = world.failed()?.milliseconds ?? 0
            #expect((1...60_000).contains(pause))
            world.pass(pause)
        }
        #expect(world.pacing.failures == 1_000)
    }

    @Test func differsFromProcessToProcess() {
        let pauses = (0..<100 as Range<UInt64>).map { seed in
            var world = World(first: 60_000, seed: seed)
            return world.failed()?.milliseconds
        }
        #expect(Set(pauses).count > 90)
    }

    @Test func bearsSenselessSettings() {
        var world = World(first: 0, maximum: -5)
        for _ in 0..<100 {
            #expect(world.failed()?.milliseconds == 1)
            world.pass(1)
        }
    }

    /// Several that fail together have one cause, which costs one pause.
    @Test func aWaveOfFailuresIsOne() {
        var world = World()
        #expect(world.dials(4) == 4)
        #expect(world.failed() != nil)
        for _ in 0..<3 { #expect(world.failed() == nil) }
        #expect(world.pacing.failures == 1)
    }

    /// Accepted, with TLS and even SETTINGS, and broken at once, for an hour: the server has never worked, so pauses
    /// grow.
    @Test func connectionsThatBreakAtOnceMakeGrowingPauses() {
        var world = World()
        var dialled = 0
        for _ in 0..<3_600 * 4 {
            if world.dials(4) > 0 {
                dialled += world.dials(4)
                _ = world.broke()
            }
            world.pass(250)
        }
        // Initially four, then one at a time: the doubling takes two minutes, and then there is one every 30 to 60 s.
        #expect((60...130).contains(dialled), "\(dialled) dials in an hour")
    }

    @Test func whileItFailsOneIsTriedAtATime() {
        var world = World()
        world.pass(world.failed()?.milliseconds ?? 0)
        #expect(world.dials(4) == 1)
        #expect(world.dials(4, unproven: 1) == 0)
        #expect(world.dials(4, proven: 2) == 1)
        world.pacing.answered()
        #expect(world.dials(4, proven: 1) == 3)
    }

    @Test func anAnswerEndsTheSeries() {
        var world = World(first: 100)
        for _ in 0..<10 { world.pass(world.failed()?.milliseconds ?? 0) }
        world.pacing.answered()
        #expect(!world.pacing.isRecovering)
        #expect((50...100).contains(world.failed()?.milliseconds ?? 0))
    }

    @Test func aConnectionThatServedCostsNothing() {
        var world = World()
        #expect(world.broke(answered: true, after: 1_000) == nil)
        #expect(world.broke(answered: false, after: 60_000) == nil, "nothing was asked of it")
        #expect(world.dials() == 1)
        #expect(!world.pacing.isRecovering)
    }

    /// One answer and the end, again and again: a pause, but not a growing one.
    @Test func aConnectionThatAnswersAndBreaksSoonCostsTheFirstPause() throws {
        var world = World()
        for _ in 0..<10 {
            let made = world.broke(answered: true, after: 5)
            let pause = try #require(made)
            #expect((500...1_000).contains(pause.milliseconds))
            #expect(pause.attempt == 0)
            #expect(world.dials() == 0)
            world.pass(pause.milliseconds)
        }
    }

    /// Many connections that end soon: one is dialled per pause, and the others once it has lasted.
    @Test func afterAnEarlyEndOneIsTriedUntilItLasts() throws {
        var world = World()
        for _ in 0..<20 {
            let made = world.broke(answered: true, after: 5)
            world.pass(try #require(made).milliseconds)
            #expect(world.dials(10) == 1)
            #expect(world.pacing.isCareful(at: world.now))
            #expect(world.dials(10, unproven: 1) == 0, "it has answered, and has not lasted")
            world.pacing.answered()
            #expect(world.dials(10, unproven: 1) == 0)
        }
        world.pass(2_000)
        #expect(!world.pacing.isCareful(at: world.now))
        #expect(world.dials(10, proven: 1) == 9)
    }

    @Test func somebodyMayEndThePause() {
        var world = World()
        for _ in 0..<8 { world.pass(world.failed()?.milliseconds ?? 0) }
        _ = world.failed()
        #expect(world.dials() == 0)
        world.pacing.retryNow()
        #expect(world.dials(4) == 1, "it has not answered yet")
        #expect(world.failed()?.milliseconds ?? 0 <= 2_000)
    }
}
