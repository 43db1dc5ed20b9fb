import PushCore
import Store
import Synchronization

/// Part ends whose delivery another session has locked, for example with an uncommitted pause.
///
/// They wait here separately, so that outcomes of other deliveries do not wait for the lock.
final class LockedEnds: Sendable {
    /// Between two checks whether the lock is gone.
    static let pause = Duration.milliseconds(500)

    private struct State {
        var waiting: [ClosingPart] = []
        var isWatched = false
    }

    private let store: Store
    private let state = Mutex(State())

    init(store: Store) {
        self.store = store
    }

    /// Whether any end waits; if so, batches are checked for locks before they are stored.
    var areThere: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Takes the ends that would wait for a lock now out of a batch.
    func takeOut(of batch: inout OutcomeBatch) async throws -> [ClosingPart] {
        guard !batch.closing.isEmpty else { return [] }
        let locked = try await store.lockedParts(Set(batch.closing.map(\.claim.part)))
        let taken = batch.closing.filter { locked.contains($0.claim.part) }
        batch.closing.removeAll { locked.contains($0.claim.part) }
        return taken
    }

    /// Adds ends that wait; everything else of their parts is stored.
    ///
    /// - Returns: whether the caller has to start calling ``next()``.
    func add(_ ends: [ClosingPart]) -> Bool {
        guard !ends.isEmpty else { return false }
        return state.withLock { state in
            state.waiting += ends
            defer { state.isWatched = true }
            return !state.isWatched
        }
    }

    /// Stores the ends whose delivery is no longer locked.
    ///
    /// - Returns: the report on the stored ends, and their parts; nil if no end waits.
    func next() async throws -> (report: StoreReport, claims: Set<PartToken>)? {
        let waiting = state.withLock { state in
            state.isWatched = !state.waiting.isEmpty
            return state.waiting
        }
        guard !waiting.isEmpty else { return nil }
        var batch = OutcomeBatch()
        batch.closing = waiting
        _ = try await takeOut(of: &batch)
        let report = try await store.storeOutcomes(batch)
        let claims = batch.claims
        state.withLock { $0.waiting.removeAll { claims.contains($0.claim) } }
        return (report, claims)
    }
}
