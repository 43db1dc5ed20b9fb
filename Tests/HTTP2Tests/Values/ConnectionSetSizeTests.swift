import Foundation
import NIOCore
import Testing

@testable import HTTP2

/// The size of a connection set against models of gateways, on a simulated clock.
@Suite("Size of a connection set")
struct ConnectionSetSizeTests {
    /// A model of a gateway: its latency, the rates of the gateway and of this process, and its limits.
    struct Gateway {
        var latencyMilliseconds = 200.0
        /// The streams of one connection.
        var limit = 1_000
        /// The maximum requests a second, over all connections; further ones wait and take longer.
        var capacity = 100_000.0
        /// The maximum number of streams over all connections; further ones are refused.
        var maxStreams = Int.max
        var connectMilliseconds = 60.0
        /// The maximum number of connections that succeed.
        var maxConnections = Int.max
        /// The wanted requests a second.
        var demand = Double.infinity
        /// The requests a second that this process can put on free streams.
        var filling = Double.infinity
        /// The share of the streams that wait until a block of them is free.
        var gathering = 0.0
        /// The maximum number of requests that this process has on the wire.
        var window = Double.infinity
    }

    /// A client with such a gateway.
    struct World {
        var size: ConnectionSetSize
        var gateway: Gateway
        var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
        var opening: [NIODeadline] = []
        var sample = ConnectionSetSize.Sample()
        var rate = 0.0
        var maxTarget = 1
        private var onTheWire = 0.0
        private var answered = 0.0
        private var latencySum = 0.0
        private var refused = 0.0

        init(_ gateway: Gateway, maximum: Int = 64, minimum: Int = 1) {
            self.gateway = gateway
            size = ConnectionSetSize(minimum: minimum, maximum: maximum)
        }

        /// Lets time pass in steps of 25 ms.
        mutating func run(_ seconds: Double) {
            for _ in 0..<Int(seconds * 40) { step(0.025) }
        }

        /// A pause, in which a client checks once a second.
        mutating func pause(_ seconds: Int) {
            let demand = gateway.demand
            gateway.demand = 0
            for _ in 0..<seconds { step(1) }
            gateway.demand = demand
        }

        private mutating func step(_ seconds: Double) {
            now = now + .nanoseconds(Int64(seconds * 1e9))
            connect()
            let room = Double(sample.ready * gateway.limit)
            let wanted = gateway.demand * gateway.latencyMilliseconds / 1_000
            onTheWire = min(
                room * (1 - gateway.gathering),
                wanted,
                gateway.window,
                onTheWire + gateway.filling * seconds
            )
            let taken = min(onTheWire, Double(gateway.maxStreams))
            rate = min(taken / (gateway.latencyMilliseconds / 1_000), gateway.capacity)
            // Requests beyond the gateway's limit wait inside the gateway.
            let latency =
                rate > 0 ? max(gateway.latencyMilliseconds, taken / rate * 1_000) : gateway.latencyMilliseconds
            answered += rate * seconds
            latencySum += rate * seconds * latency * 1_000
            if min(room, wanted) > Double(gateway.maxStreams) {
                refused +=
                    (min(room, wanted) - Double(gateway.maxStreams)) / (gateway.latencyMilliseconds / 1_000) * seconds
            }
            sample.streamLimit = Int(room)
            sample.inFlight = Int(onTheWire)
            sample.isWaiting = wanted > room * (1 - gateway.gathering)
            sample.gathering = sample.isWaiting ? Int((room * gateway.gathering).rounded(.up)) : 0
            sample.answered = Int64(answered)
            sample.latencySum = Int64(latencySum)
            sample.refused = Int64(refused)
            sample.opening = opening.count
            _ = size.see(sample, at: now)
            maxTarget = max(maxTarget, size.target)
        }

        private mutating func connect() {
            let done = opening.filter { $0 <= now }.count
            opening.removeAll { $0 <= now }
            sample.ready += done
            while sample.ready + opening.count < min(size.target, gateway.maxConnections) {
                opening.append(now + .nanoseconds(Int64(gateway.connectMilliseconds * 1e6)))
            }
            sample.ready = min(sample.ready, size.target)
        }
    }

    @Test(
        "At real latencies, the rate reaches the gateway's, not one connection's, within two seconds",
        arguments: [
            (50.0, 1_000), (200.0, 1_000), (300.0, 1_000), (50.0, 100), (200.0, 100),
        ]
    )
    func grows(_ latency: Double, _ limit: Int) {
        var world = World(Gateway(latencyMilliseconds: latency, limit: limit, capacity: 70_000), maximum: 256)
        world.run(latency > 200 ? 3 : 2)
        #expect(world.rate >= 0.9 * min(70_000, 256 * Double(limit) / latency * 1_000), "\(world.size)")
        world.run(60)
        #expect(world.rate >= 0.9 * min(70_000, 256 * Double(limit) / latency * 1_000), "\(world.size)")
        // At most twice what Little's law requires.
        #expect(Double(world.size.target) <= max(2, 2 * 70_000 * latency / 1_000 / Double(limit)), "\(world.size)")
    }

    @Test("Streams that wait for a block of them are no reason to stay small")
    func gathers() {
        var world = World(Gateway(limit: 100, capacity: 70_000, gathering: 0.2), maximum: 256)
        world.run(2)
        #expect(world.rate >= 0.9 * 70_000, "\(world.size)")
    }

    @Test("A set is full without a sixteenth of its streams: one connection that is behind is no reason to stay small")
    func fullness() {
        var sample = ConnectionSetSize.Sample()
        #expect(!sample.isFull, "nothing is open")
        sample.streamLimit = 160
        sample.inFlight = 120
        sample.gathering = 29
        #expect(!sample.isFull)
        sample.gathering = 30
        #expect(sample.isFull)
    }

    @Test("A gateway that answers at once gets one connection, and rarely a trial of another", arguments: [0.3, 1, 5])
    func oneIsEnough(_ latency: Double) {
        var world = World(Gateway(latencyMilliseconds: latency))
        var more = 0
        for _ in 0..<120 {
            world.run(1)
            if world.size.target > 1 { more += 1 }
        }
        #expect(more <= 5 && world.maxTarget <= 3, "\(more) seconds")
        #expect(world.rate >= 0.99 * 100_000)
    }

    @Test("Connections that do not raise the rate are closed again, and rarely tried")
    func noGain() {
        // The gateway allows this sender 3,000 a second, however many connections it opens.
        var world = World(Gateway(capacity: 3_000))
        var more = 0
        for _ in 0..<300 {
            world.run(1)
            if world.size.target > 2 { more += 1 }
        }
        #expect(more <= 15, "\(more) of 300 seconds with more than two")
    }

    @Test("The same if this process fills them slowly", arguments: [20_000.0, 40_000, 100_000])
    func noGainFilledSlowly(_ filling: Double) {
        var world = World(Gateway(capacity: 3_000, filling: filling), maximum: 32)
        world.run(30)
        var more = 0
        for _ in 0..<300 {
            world.run(1)
            if world.size.target > 2 { more += 1 }
        }
        #expect(more <= 15, "\(more) of 300 seconds with more than two")
    }

    @Test("If something else limits the messages on the wire, the set fits that limit after a minute or two")
    func boundByAWindow() {
        var world = World(Gateway(window: 5_000), maximum: 32)
        world.run(130)
        #expect((5...7).contains(world.size.target), "\(world.size)")
        #expect(world.rate >= 0.95 * 25_000)
    }

    @Test("After a pause the set is as large as without one")
    func pause() {
        var world = World(Gateway(latencyMilliseconds: 50, capacity: 60_000))
        for _ in 0..<5 {
            world.pause(20)
            world.run(2)
        }
        var other = World(Gateway(latencyMilliseconds: 50, capacity: 60_000))
        other.run(10)
        #expect(other.maxTarget <= 16, "\(other.size)")
        #expect(world.maxTarget <= other.maxTarget && world.rate >= 0.95 * 60_000, "\(world.size)")
    }

    @Test("A higher rate after a pause is not a gain from more connections")
    func noGainAfterAPause() {
        var world = World(Gateway(capacity: 3_000), maximum: 32)
        world.pause(3)
        world.run(10)
        #expect(world.size.target <= 2, "\(world.size)")
    }

    @Test("The last answers of a delivery do not shrink the set")
    func lastAnswers() {
        var world = World(Gateway(latencyMilliseconds: 130, demand: 85_000), maximum: 32)
        world.run(4)
        let target = world.size.target
        #expect(target >= 12)
        world.gateway.latencyMilliseconds = 1_000
        world.gateway.demand = 80
        world.run(5)
        #expect(world.size.target == target, "\(world.size)")
    }

    @Test("A gateway that becomes slow later does not shrink it either: its streams are needed")
    func slowLater() {
        var world = World(Gateway(latencyMilliseconds: 130, capacity: 85_000, demand: 85_000), maximum: 32)
        world.run(40)
        let target = world.size.target
        world.gateway.latencyMilliseconds = 500
        world.run(5)
        #expect(world.size.target >= target, "\(world.size)")
    }

    @Test("Connections that never succeed are abandoned after a minute or two, except for a few trials")
    func someNeverCome() {
        var world = World(Gateway(maxConnections: 10))
        world.run(150)
        #expect(world.size.target <= 13, "\(world.size)")
        #expect(world.rate >= 0.95 * 50_000)
    }

    @Test("A step is kept if only this process was slow at its beginning, not the gateway")
    func slowMoments() {
        var world = World(Gateway(demand: 150_000), maximum: 32)
        world.run(0.3)
        // Another process uses the processor: only a third of the wanted requests leave.
        world.gateway.demand = 30_000
        world.run(2)
        world.gateway.demand = .infinity
        world.run(2)
        #expect(world.rate >= 0.95 * 100_000, "\(world.size)")
    }

    @Test("This process's own rate does not limit the set: 140,000 a second at 50 ms")
    func fastSender() {
        var world = World(Gateway(latencyMilliseconds: 50, capacity: 140_000), maximum: 32)
        world.run(2)
        #expect(world.rate >= 0.99 * 140_000, "\(world.size)")
    }

    @Test("A gateway with a long tail does not count as becoming slow: its first answers are its quick ones")
    func longTail() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var size = ConnectionSetSize(maximum: 32)
        var sample = ConnectionSetSize.Sample()
        // The number of answers in each of the next milliseconds: half of them after 80, one in a hundred after more
        // than 800.
        var answers = [(count: Int, latencies: Int)](repeating: (0, 0), count: 60_000)
        for millisecond in 0..<4_000 {
            sample.answered += Int64(answers[millisecond].count)
            sample.latencySum += Int64(answers[millisecond].latencies * 1_000)
            sample.inFlight -= answers[millisecond].count
            // APNs allows one request until it has answered.
            sample.ready = sample.answered == 0 ? 1 : size.target
            sample.streamLimit = sample.answered == 0 ? 1 : sample.ready * 1_000
            let leaving = max(0, min(sample.streamLimit - sample.inFlight, 140))
            for _ in 0..<leaving {
                // The sum of twelve even numbers is close to a normal one.
                let deviation = (0..<12).reduce(-6) { sum, _ in sum + Double.random(in: 0..<1, using: &random) }
                let latency = 1 + Int(80 * exp(0.99 * deviation))
                answers[millisecond + latency].count += 1
                answers[millisecond + latency].latencies += latency
            }
            sample.inFlight += leaving
            sample.isWaiting = sample.inFlight >= sample.streamLimit
            guard millisecond % 20 == 0 else { continue }
            _ = size.see(sample, at: .uptimeNanoseconds(1_000_000_000 + UInt64(millisecond) * 1_000_000))
        }
        // 140,000 a second at 130 ms need 18 connections.
        #expect(size.target >= 18, "seed \(seed): \(size)")
    }

    @Test("At most the maximum, and one if that is the maximum")
    func maximum() {
        var world = World(Gateway(capacity: 1e9), maximum: 7)
        world.run(30)
        #expect(world.size.target == 7 && world.maxTarget == 7)
        var one = World(Gateway(), maximum: 1)
        one.run(30)
        #expect(one.maxTarget == 1)
    }

    @Test("A sender with little to send keeps one")
    func littleToSend() {
        var world = World(Gateway(demand: 500))
        world.run(30)
        #expect(world.maxTarget == 1)
    }

    @Test("Connections unused for a minute are closed, and opened again when needed")
    func unused() {
        var world = World(Gateway())
        world.run(10)
        #expect(world.size.target >= 20)
        world.gateway.demand = 100
        world.run(50)
        #expect(world.size.target >= 20, "a pause of seconds closes nothing")
        world.run(90)
        #expect(world.size.target == 1)
        world.gateway.demand = .infinity
        world.run(3)
        #expect(world.rate >= 90_000)
    }

    @Test("Failing connections are not requested by the dozen")
    func connectionsRefused() {
        var world = World(Gateway(maxConnections: 1))
        world.run(60)
        // Nothing is judged while one is being opened.
        #expect(world.size.target <= 32)
    }

    @Test("A gateway that refuses streams gets fewer of them")
    func refusedStreams() {
        var world = World(Gateway(maxStreams: 3_000))
        world.run(300)
        var refused = 0
        for _ in 0..<600 {
            world.run(0.5)
            if world.sample.inFlight > 3_000 { refused += 1 }
        }
        // It tries again, a little each minute.
        #expect(refused < 60, "\(refused) of 600 half seconds")
        #expect(world.rate >= 0.6 * 15_000)
    }

    @Test("A gateway that wants fewer gets half, once for simultaneous answers, and later more again")
    func backOff() {
        var world = World(Gateway())
        world.run(10)
        let full = world.size.target
        let (first, second) = (world.size.backOff(at: world.now), world.size.backOff(at: world.now + .milliseconds(50)))
        #expect(first && !second)
        #expect(world.size.target == full / 2)
        #expect(world.size.reason == .backedOff)
        world.run(50)
        #expect(world.size.target == full / 2)
        world.run(600)
        #expect(world.size.target > full / 2)
    }

    @Test("Whatever is measured, the target is within its bounds")
    func anything() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &random) }
        var size = ConnectionSetSize(minimum: 2, maximum: 50)
        var now = NIODeadline.uptimeNanoseconds(1)
        for _ in 0..<20_000 {
            var sample = ConnectionSetSize.Sample()
            sample.ready = number(60)
            sample.opening = number(3)
            sample.streamLimit = number(5_000)
            sample.inFlight = number(5_000)
            sample.isWaiting = number(2) == 0
            sample.answered = Int64(number(1_000_000))
            sample.latencySum = Int64(number(1_000_000_000))
            sample.refused = Int64(number(1_000))
            now = now + .milliseconds(Int64(number(5_000)))
            if number(50) == 0 { _ = size.backOff(at: now) }
            _ = size.see(sample, at: now)
            #expect((2...50).contains(size.target), "seed \(seed)")
        }
    }
}
