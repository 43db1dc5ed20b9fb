import PushCore
import TestSupport
import Testing

@Suite("The controller of a rate that follows a health signal")
struct SignalControllerTests {
    private static let second = Duration.seconds(1)

    private func controller(rate: Double = 100, good: SignalController.Side = .below) -> SignalController {
        let aim = SignalController.Aim(target: 10, good: good, floor: 10, ceiling: 1_000, reaction: .seconds(5))
        return SignalController(aim, SignalController.Memory(rate: rate))
    }

    @Test("It rises with the headroom, up to the ceiling")
    func rising() {
        var near = controller()
        var far = controller()
        for moment in 1...3 {
            near.handle(.sample(8, sent: nil, at: .seconds(moment)))
            far.handle(.sample(1, sent: nil, at: .seconds(moment)))
        }
        #expect(near.state == .rising && far.state == .rising)
        #expect(near.rate > 100 && far.rate > near.rate, "\(near.rate), \(far.rate)")
        for moment in 4...200 { far.handle(.sample(1, sent: nil, at: .seconds(moment))) }
        #expect(far.rate == 1_000 && far.state == .atCeiling)
    }

    @Test("It falls at once, at most once within a reaction, down to the floor")
    func falling() {
        var controller = controller()
        controller.handle(.sample(30, sent: nil, at: .seconds(1)))
        #expect(controller.rate == 50 && controller.state == .falling)
        for moment in 2...5 { controller.handle(.sample(30, sent: nil, at: .seconds(moment))) }
        #expect(controller.rate == 50, "these values show the rate before the cut")
        controller.handle(.sample(30, sent: nil, at: .seconds(6)))
        #expect(controller.rate == 25)
        for moment in 7...60 { controller.handle(.sample(30, sent: nil, at: .seconds(moment))) }
        #expect(controller.rate == 10 && controller.state == .atFloor)
    }

    @Test("A signal may be good above its target")
    func above() {
        var controller = controller(good: .above)
        for moment in 1...3 { controller.handle(.sample(50, sent: nil, at: .seconds(moment))) }
        #expect(controller.state == .rising)
        let before = controller.rate
        for value in [4.0, 0, -1] {
            var broken = controller
            broken.handle(.sample(value, sent: nil, at: .seconds(4)))
            #expect(broken.rate <= before / 2, "\(value)")
        }
    }

    @Test("A stale signal means the floor, and a rate that is not used does not grow")
    func staleAndUnused() {
        var controller = controller(rate: 400)
        controller.handle(.sample(1, sent: nil, at: .seconds(1)))
        controller.handle(.sample(1, sent: 100, at: .seconds(2)))
        #expect(controller.rate == 400 && controller.state == .holding)
        controller.handle(.sample(1, sent: 390, at: .seconds(3)))
        #expect(controller.rate > 400)
        controller.handle(.stale)
        #expect(controller.rate == 10 && controller.state == .stale)
        controller.handle(.sample(1, sent: nil, at: .seconds(60)))
        #expect(controller.rate == 10 && controller.state == .atFloor, "no time has passed that it knows of")
        controller.handle(.sample(1, sent: nil, at: .seconds(61)))
        #expect(controller.rate > 10 && controller.state == .rising)
    }

    @Test("A clock that is set back neither stops it nor makes it jump")
    func clock() {
        var controller = controller()
        controller.handle(.sample(30, sent: nil, at: .seconds(1_000)))
        controller.handle(.sample(1, sent: nil, at: .seconds(1)))
        controller.handle(.sample(1, sent: nil, at: .seconds(2)))
        #expect(controller.rate > 50 && controller.rate < 100)
    }

    @Test("Another controller goes on from what one has kept")
    func handedOver() {
        var one = controller()
        var random = TestRandom(seed: 7)
        var other = one
        for moment in 1...300 {
            let value = Double(random.below(12))
            one.handle(.sample(value, sent: nil, at: .seconds(moment)))
            other = SignalController(other.aim, other.memory, state: other.state)
            other.handle(.sample(value, sent: nil, at: .seconds(moment)))
        }
        #expect(one == other)
    }

    /// A backend whose load the messages of the last seconds cause.
    private struct Backend {
        enum Kind: CaseIterable {
            /// Shows the share of its capacity that is in use; the target is 80 %.
            case utilisation
            /// Shows the time of an answer, which rises steeply near the capacity, and with what waits; the target is
            /// ten times the time without any load.
            case latency
        }

        let kind: Kind
        private var waiting = 0.0

        init(_ kind: Kind) {
            self.kind = kind
        }

        var target: Double { kind == .utilisation ? 0.8 : 0.2 }
        /// The part of the capacity at which the target is just met.
        var best: Double { kind == .utilisation ? 0.8 : 0.9 }

        mutating func load(_ rate: Double, capacity: Double, for time: Double) -> Double {
            switch kind {
            case .utilisation: return min(1, rate / capacity)
            case .latency:
                waiting = max(0, waiting + (rate - capacity) * time)
                return 0.02 / (1 - min(rate / capacity, 0.995)) + waiting / capacity
            }
        }
    }

    /// A delivery that takes at least an hour. In the second third, the backend has half of its capacity.
    ///
    /// - Parameter delay: seconds until a message shows in the signal.
    /// - Returns: the share of the time in which the target was broken, and the time as a multiple of the best possible.
    private func hour(_ kind: Backend.Kind, delay: Int, seed: UInt64) -> (broken: Double, time: Double) {
        var random = TestRandom(seed: seed)
        var backend = Backend(kind)
        let third = 1_200.0
        let capacity = 1_000.0
        let aim = SignalController.Aim(
            target: backend.target,
            good: .below,
            floor: 20,
            ceiling: 5_000,
            reaction: .seconds(5)
        )
        var controller = SignalController(aim, SignalController.Memory(rate: 20))
        let step = 0.1
        var rates: [Double] = []
        var (rest, broken, sinceSample) = (2.5 * third * capacity * backend.best, 0.0, 0.0)
        while rest > 0, rates.count < 100_000 {
            let now = Double(rates.count) * step
            rates.append(controller.rate)
            rest -= controller.rate * step
            sinceSample += controller.rate * step
            let arriving = rates.count > 10 * delay ? rates[rates.count - 1 - 10 * delay] : 0
            let isHalved = now >= third && now < 2 * third
            let value = backend.load(arriving, capacity: isHalved ? capacity / 2 : capacity, for: step)
            if value > backend.target { broken += step }
            guard rates.count.isMultiple(of: 10) else { continue }
            // The sum of twelve uniform numbers is nearly normal, with a standard deviation of 1.
            let noise = (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
            let seen = value * max(0, 1 + 0.05 * noise)
            controller.handle(.sample(seen, sent: sinceSample, at: .seconds(rates.count / 10)))
            sinceSample = 0
        }
        let time = Double(rates.count) * step
        return (broken / time, time / (3 * third))
    }

    @Test("The target is broken in less than 1 % of the time, and the whole takes at most 1.15 times the best possible")
    func measured() {
        let seed = TestRandom.seed(for: "SignalControllerTests.measured")
        for kind in Backend.Kind.allCases {
            for delay in 1...2 {
                for run in 0..<3 {
                    let (broken, time) = hour(kind, delay: delay, seed: seed &+ UInt64(run))
                    #expect(broken < 0.01, "\(kind), delay \(delay) s, run \(run): \(broken * 100) % of the time")
                    #expect(time <= 1.15, "\(kind), delay \(delay) s, run \(run): \(time) times the best")
                }
            }
        }
    }

    @Test("A signal that gives no warning is approached with growing patience")
    func errors() {
        let aim = SignalController.Aim(target: 0.01, good: .below, floor: 20, ceiling: 5_000, reaction: .seconds(5))
        var controller = SignalController(aim, SignalController.Memory(rate: 20))
        var cuts: [Int] = []
        for moment in 1...3_600 {
            let before = controller.rate
            controller.handle(.sample(before > 1_000 ? 0.05 : 0, sent: nil, at: .seconds(moment)))
            if controller.rate < before { cuts.append(moment) }
        }
        #expect(cuts.count(where: { $0 > 1_800 }) <= 8, "\(cuts)")
        #expect(controller.rate > 800)
    }
}
