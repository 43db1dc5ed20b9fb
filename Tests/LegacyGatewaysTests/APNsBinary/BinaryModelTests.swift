import Foundation
import GatewayTestSupport
import Gateways
import Testing

@testable import LegacyGateways

/// The state machine against a model of the gateway that accepts, rejects, shuts down and dies at random.
@Suite("The binary protocol against a model gateway")
struct BinaryModelTests {
    private typealias State = BinaryConnectionState<Int>

    private static let silence: UInt64 = 1_000
    private static let timeout: UInt64 = 20_000

    /// The model gateway's end of a connection.
    private struct Peer {
        /// Messages in transit, with the time at which the gateway receives them.
        var wire: [(identifier: UInt32, message: Int, seenAt: UInt64)] = []
        /// An error packet in transit.
        var packet: (bytes: [UInt8], arrivesAt: UInt64)?
        var isDead = false
        var diesAt: UInt64?
        var lastTaken: UInt32 = 0
    }

    private struct World {
        var random: SeededGenerator
        var now: UInt64 = 10_000
        var state = State(silence: BinaryModelTests.silence, timeout: BinaryModelTests.timeout)
        var peer = Peer()
        /// Messages that wait to be sent.
        var waiting: [Int]
        /// How often the gateway has taken each message.
        var taken: [Int: Int] = [:]
        /// The unresolved sends of each message.
        var open: Set<Int> = []
        var accepted: Set<Int> = []
        var refused: Set<Int> = []
        var doubts = 0
        var tooLate = 0
        /// Messages that were presumed taken on connections that ended without proof.
        var unproved = 0
        var connections = 1
        /// The model answers within the window of silence, unless it is configured to be late.
        var isLate = false
    }

    /// The number of runs: 300, unless the environment sets it.
    private static var runs: Int {
        ProcessInfo.processInfo.environment["PUSHMTA_MODEL_RUNS"].flatMap(Int.init) ?? 300
    }

    @Test("No message is lost or resolved twice, and each outcome is true")
    func random() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(state: seed)
        var errors = 0
        var doubts = 0
        for _ in 0..<Self.runs {
            var world = World(
                random: SeededGenerator(state: random.next()),
                waiting: Array(0..<Int.random(in: 1...400, using: &random))
            )
            let all = Set(world.waiting)
            run(&world, errorRate: Double.random(in: 0...0.05, using: &random))
            #expect(world.open.isEmpty && world.waiting.isEmpty)
            #expect(world.accepted.union(world.refused) == all, "lost")
            #expect(world.accepted.isDisjoint(with: world.refused))
            for message in world.accepted { #expect((world.taken[message] ?? 0) >= 1, "\(message) was never taken") }
            if world.doubts == 0 {
                #expect(world.taken.values.allSatisfy { $0 == 1 }, "twice for certain")
                #expect(world.refused.allSatisfy { world.taken[$0] == nil })
            }
            #expect(world.tooLate == 0)
            errors += world.refused.count
            doubts += world.doubts
        }
        #expect(errors > 0 && doubts > 0, "nothing went wrong, so nothing was tested")
    }

    @Test("A gateway slower than the window: wrong presumptions are counted, all other outcomes stay true")
    func late() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(state: seed)
        var tooLate = 0
        for _ in 0..<Self.runs / 3 {
            var world = World(random: SeededGenerator(state: random.next()), waiting: Array(0..<200))
            world.isLate = true
            run(&world, errorRate: 0.03)
            #expect(world.open.isEmpty && world.waiting.isEmpty)
            finish(&world)
            let untaken = world.accepted.filter { world.taken[$0] == nil }
            #expect(untaken.count <= world.tooLate, "accepted, not taken, and not counted")
            tooLate += world.tooLate
        }
        #expect(tooLate > 0)
    }

    private func run(_ world: inout World, errorRate: Double) {
        step(&world, .opened)
        var steps = 0
        while !world.waiting.isEmpty || !world.open.isEmpty {
            steps += 1
            guard steps < 500_000 else {
                Issue.record("no end")
                return
            }
            world.now += UInt64.random(in: 1...60, using: &world.random)
            if world.state.phase == .closed { reconnect(&world) }
            gateway(&world, errorRate: errorRate)
            if Int.random(in: 0..<3, using: &world.random) > 0 { send(&world) }
            step(&world, .tick)
        }
    }

    /// Delivers the messages in transit to the gateway, and its error packet to the client.
    private func finish(_ world: inout World) {
        while world.state.phase != .closed, !world.peer.wire.isEmpty || world.peer.packet != nil {
            world.now += 50
            gateway(&world, errorRate: 0.03)
        }
    }

    private func reconnect(_ world: inout World) {
        world.state = State(silence: Self.silence, timeout: Self.timeout)
        world.peer = Peer()
        world.connections += 1
        step(&world, .opened)
    }

    private func send(_ world: inout World) {
        let room = min(world.state.room(64), world.waiting.count)
        guard room > 0 else { return }
        let number = Int.random(in: 1...room, using: &world.random)
        let messages = Array(world.waiting.prefix(number))
        world.waiting.removeFirst(number)
        var identifier = world.state.nextIdentifier
        for message in messages {
            #expect(world.open.insert(message).inserted, "\(message) is on the wire twice")
            let delay = UInt64.random(in: 1...(world.isLate ? 4_000 : 400), using: &world.random)
            let seenAt = max(world.now + delay, world.peer.wire.last?.seenAt ?? 0)
            world.peer.wire.append((identifier, message, seenAt))
            identifier += 1
        }
        step(&world, .sent(messages.map { ($0, 7) }))
    }

    /// Runs the model gateway until now.
    private func gateway(_ world: inout World, errorRate: Double) {
        // The gateway's host acknowledges everything, whatever the gateway does.
        if Int.random(in: 0..<4, using: &world.random) > 0 { step(&world, .acknowledged(world.state.written)) }
        let deathRate = world.isLate ? 0 : 0.003
        while !world.peer.isDead, world.peer.packet == nil, let next = world.peer.wire.first, next.seenAt <= world.now {
            world.peer.wire.removeFirst()
            let dice = Double.random(in: 0..<1, using: &world.random)
            if dice < errorRate {
                // A bad message is refused every time.
                answer(&world, [1, 7, 8, 128].randomElement(using: &world.random) ?? 8, next.identifier)
            } else if dice < errorRate + deathRate {
                answer(&world, BinaryErrorPacket.shutdown, world.peer.lastTaken)
            } else if dice < errorRate + deathRate * 2 {
                // It dies, whether or not it has taken this one.
                if Bool.random(using: &world.random) { world.taken[next.message, default: 0] += 1 }
                world.peer.diesAt = world.now + UInt64.random(in: 0...100, using: &world.random)
                world.peer.isDead = true
            } else {
                world.taken[next.message, default: 0] += 1
                world.peer.lastTaken = next.identifier
            }
        }
        if let packet = world.peer.packet, packet.arrivesAt <= world.now {
            world.peer.packet = nil
            world.peer.isDead = true
            // In two chunks, as TCP may split it.
            let cut = Int.random(in: 0...6, using: &world.random)
            step(&world, .received(Array(packet.bytes[..<cut])))
            step(&world, .received(Array(packet.bytes[cut...])))
            step(&world, .closed)
        } else if let diesAt = world.peer.diesAt, diesAt <= world.now {
            step(&world, .closed)
        }
    }

    private func answer(_ world: inout World, _ status: UInt8, _ identifier: UInt32) {
        let bytes = [8, status] + (0..<4).map { UInt8(truncatingIfNeeded: identifier >> UInt32(24 - $0 * 8)) }
        let delay = UInt64.random(in: 1...(world.isLate ? 3_000 : 200), using: &world.random)
        world.peer.packet = (bytes, world.now + delay)
    }

    private func step(_ world: inout World, _ event: State.Event) {
        for action in world.state.handle(event, now: world.now) {
            switch action {
            case .resolve(let resolved): for one in resolved { resolve(&world, one) }
            case .judged(let decision):
                world.tooLate += decision.tooLate
                world.unproved += decision.unproved
            case .unproved(let number): world.unproved += number
            case .close(let reason):
                // The channel closes a moment later; nothing more is read.
                if reason != nil || event.isTick { world.peer.diesAt = world.now + 1 }
            }
        }
    }

    private func resolve(_ world: inout World, _ resolved: BinaryResolved<Int>) {
        let message = resolved.message
        #expect(world.open.remove(message) != nil, "\(message) is resolved twice")
        switch resolved.fate {
        case .taken:
            #expect((world.taken[message] ?? 0) > 0, "\(message) is said to be taken")
            world.accepted.insert(message)
        case .presumedTaken:
            if !world.isLate { #expect((world.taken[message] ?? 0) > 0, "\(message) is presumed taken") }
            world.accepted.insert(message)
        case .refused(let status):
            // Half of them are tried again, as the answer table specifies for some.
            if status == 1 { world.waiting.append(message) } else { world.refused.insert(message) }
        case .discarded:
            if world.doubts == 0 { #expect(world.taken[message] == nil, "\(message) is thrown away and was taken") }
            world.waiting.append(message)
        case .ambiguous:
            world.doubts += 1
            world.waiting.append(message)
        }
    }
}

extension BinaryConnectionState.Event {
    fileprivate var isTick: Bool {
        if case .tick = self { true } else { false }
    }
}
