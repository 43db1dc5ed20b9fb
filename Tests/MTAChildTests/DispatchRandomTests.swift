import Gateways
import PushCore
import TestSupport
import Testing

@testable import MTAChild
@testable import Store

/// Runs dispatch states through random schedules and checks that every message ends exactly once, whatever happens in between.
@Suite struct DispatchRandomTests {
    private static let window = 12

    private func world(_ seed: UInt64) throws -> DispatchWorld {
        var world = DispatchWorld(
            random: TestRandom(seed: seed),
            dispatch: DispatchState(
                window: DispatchWindow(most: Self.window, mostBytes: .max),
                batchSize: 5,
                applicationID: 1
            )
        )
        for id in 1...Int64(3) {
            let delivery = try DispatchFixture.delivery(
                id: id * 16,
                policy: world.chance(2) ? .resend : .report,
                validUntilMilliseconds: world.chance(6) ? DispatchFixture.start + 3_000 : nil
            )
            world.states[delivery.id] = .inProgress
            for part in 1...Int64(2) {
                let size = Int.random(in: 1...9, using: &world.random)
                world.parts[id * 10 + part] = DispatchWorld.Part(id: id * 10 + part, delivery: delivery, size: size)
            }
        }
        if world.chance(3) { world.limit() }
        world.stopsApplication = world.chance(8)
        world.mixesUp = world.chance(8)
        world.stopsDelivery = world.chance(4)
        if world.chance(world.mixesUp ? 2 : 10) {
            world.claim(isProbe: true)
        } else if world.chance(6) {
            world.isProbingTrouble = true
            world.dispatch.trouble = .probing(mayProbe: false)
        }
        return world
    }

    private func step(_ world: inout DispatchWorld) {
        world.now += Int64.random(in: 0...20, using: &world.random)
        switch Int.random(in: 0..<24, using: &world.random) {
        case 0...2: world.answerMark()
        case 3 where !world.limits.isEmpty: world.grant()
        case 3...6: world.depart()
        case 7...11: world.answer()
        case 12: world.giveBack()
        case 13:
            world.giveBack()
            world.finishRelease()
        case 14 where !world.resends.isEmpty:
            let place = Int.random(in: 0..<world.resends.count, using: &world.random)
            world.perform(.resendDue(batchID: world.resends.remove(at: place)))
        case 15...16: world.store()
        case 17 where world.chance(2): world.look()
        case 17: world.poll()
        case 18 where world.chance(3): world.renew()
        case 18 where world.now >= world.leaseEnd: world.perform(.leaseValid(false))
        case 19: world.takeOver()
        case 20 where world.isProbingTrouble && !world.isShuttingDownFast && !world.isCircuitOpen:
            if world.dispatch.parts.isEmpty { world.claim() }
            if !world.dispatch.mayProbe, world.dispatch.window.inGateway == 0 { world.perform(.probe) }
        case 20 where world.chance(50): world.perform(.gatewayFailed("ConnectionLost"))
        case 21 where world.mayClaim && !world.isProbing && !world.isProbingTrouble: world.claim()
        case 22 where world.chance(10): world.changeState()
        case 23 where world.chance(60): world.fastShutdown()
        case 23 where world.chance(60): world.drain()
        case 23 where world.chance(20): world.perform(.journalLong(1))
        default: break
        }
    }

    /// No more accidents: everything that is under way comes to its end.
    private func resolve(_ world: inout DispatchWorld) {
        for id in world.states.keys where world.states[id] == .paused { world.states[id] = .inProgress }
        world.stopsApplication = false
        world.mixesUp = false
        world.stopsDelivery = false
        var steps = 0
        while steps < 30_000 {
            steps += 1
            step(&world)
            for id in world.states.keys where world.states[id] == .paused { world.states[id] = .inProgress }
            if world.now >= world.leaseEnd - 100 { world.renew() }
            if world.isProbing, world.dispatch.parts.isEmpty { world.isCircuitOpen = true }
            let isLeft = world.parts.values.contains { !$0.isDone && !$0.isClaimed }
            if world.dispatch.isEmpty, world.dispatch.endings.releasing.isEmpty, !world.mayClaim || !isLeft { return }
        }
    }

    @Test func everyMessageEndsExactlyOnce() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("random dispatchStates: seed \(seed)")
        var seen: Set<String> = []
        var run: UInt64 = 0
        // The rarest of what must happen does so in some runs of 400, and once in a while in none of them.
        while run < 400 || run < 4_000 && !Self.mustHappen.isSubset(of: seen) {
            defer { run += 1 }
            var world = try world(seed &+ run)
            for _ in 0..<Int.random(in: 0...400, using: &world.random) { step(&world) }
            resolve(&world)
            check(world, "seed \(seed &+ run)")
            if !world.failures.isEmpty { return }
            seen.formUnion(world.seen)
        }
        let missing = Self.mustHappen.subtracting(seen)
        #expect(missing.isEmpty, "seed \(seed): never happened: \(missing)")
    }

    private static let mustHappen: Set<String> = [
        "part given back", "journal cut", "journal cut in part", "trouble", "trouble over", "mass failure",
        "application stopped",
        "circuit closed",
        "delivery held",
        "journal broken", "refused without lease", "commit's answer lost", "part taken over", "late fact", "retry",
        "slice", "rate cut", "stopped", "expired", "sent", "failed", "unknown", "not_applicable",
    ]

    private func check(_ world: DispatchWorld, _ place: String) {
        #expect(world.failures == [], "\(place)")
        #expect(world.dispatch.isEmpty, "\(place): the dispatch never became empty")
        #expect(world.dispatch.window.unresolved == 0 && world.dispatch.window.inGateway == 0, "\(place)")
        #expect(world.mostUnresolved <= Self.window, "\(place): \(world.mostUnresolved) unresolved")
        let mayRest = !world.mayClaim
        for part in world.parts.values {
            #expect(part.isDone || mayRest, "\(place): part \(part.id) is left")
            #expect(!part.isClaimed, "\(place): part \(part.id) is not given back")
            for sequence in part.sequences {
                let ends = (part.rows[sequence] == nil ? 0 : 1) + (part.retries.contains(sequence) ? 1 : 0)
                #expect(ends == 1 || ends == 0 && (part.rest != nil || !part.isDone), "\(place): \(sequence) \(ends)")
                let isOnRecord = part.rows[sequence] != .unknown || part.ambiguous.contains(sequence)
                #expect(isOnRecord, "\(place): \(sequence) is unknown, and never was ambiguous")
                guard world.accepted.contains(sequence) else { continue }
                let isKnown = part.rows[sequence] == .sent
                #expect(isKnown || part.ambiguous.contains(sequence), "\(place): \(sequence) was taken")
            }
        }
    }
}
