import Synchronization

/// Numbers that look random and are the same for the same seed (SplitMix64).
final class Storm: Sendable {
    private let state: Mutex<UInt64>
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

    init(_ seed: UInt64) { state = Mutex(seed) }

    /// A number from 0 to below the bound.
    func number(_ bound: Int) -> Int {
        let value = state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
        return Int(value % UInt64(bound))
    }
}
