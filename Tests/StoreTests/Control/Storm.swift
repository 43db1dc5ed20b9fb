import Synchronization
import TestSupport

/// Pseudo-random numbers, the same for the same seed.
final class Storm: Sendable {
    private let random: Mutex<TestRandom>
    private let over = Atomic<Bool>(false)

    /// Whether all parties may stop.
    var isOver: Bool { over.load(ordering: .relaxed) }

    /// Lets all parties stop.
    func end() { over.store(true, ordering: .relaxed) }

    /// Lets all parties stop when one has failed, so that none waits for it.
    func last(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            end()
            throw error
        }
    }

    init(_ seed: UInt64) { random = Mutex(TestRandom(seed: seed)) }

    /// A number from 0 up to, but not including, the bound.
    func number(_ bound: Int) -> Int {
        random.withLock { $0.below(bound) }
    }
}
