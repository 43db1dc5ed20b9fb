import Gateways
import PushCore
import TestSupport
import Testing

@testable import MTAChild
@testable import Store

/// Runs dispatch states through random schedules and checks that every message ends exactly once.
@Suite struct DispatchRandomTests {
    @Test func everyMessageEndsExactlyOnce() throws {
        let seed = UInt64.random(in: .min ... .max)
        print("random dispatchStates: seed \(seed)")
        var seen: Set<String> = []
        var run: UInt64 = 0
        // The rarest required event happens in some of 400 runs, and now and then in none.
        while run < 400 || run < 4_000 && !Self.mustHappen.isSubset(of: seen) {
            defer { run += 1 }
            var world = try DispatchWorld.make(seed: seed &+ run)
            for _ in 0..<Int.random(in: 0...400, using: &world.random) { world.step() }
            world.resolve()
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
        #expect(world.maxUnresolved <= DispatchWorld.window, "\(place): \(world.maxUnresolved) unresolved")
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
