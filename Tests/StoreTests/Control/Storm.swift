import Synchronization
import TestSupport

/// Numbers that look random and are the same for the same seed.
final class Storm: Sendable {
    private let random: Mutex<TestRandom>
    private let over = Atomic<Bool>(false)

    /// Whether all may leave.
    var isOver: Bool { over.load(ordering: .relaxed) }

    /// Lets all leave.
    func end() { over.store(true, ordering: .relaxed) }

    /// Lets all leave when one has failed, so that nobody waits for it.
    func last(_ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            end()
            throw error
        }
    }

    init(_ seed: UInt64) { random = Mutex(TestRandom(seed: seed)) }

    /// A number from 0 to below the bound.
    func number(_ bound: Int) -> Int {
        random.withLock { $0.below(bound) }
    }
}
