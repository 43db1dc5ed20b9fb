import PushCore
import Store
import Synchronization

/// Ends of parts whose delivery another session has locked, by a pause that is not committed, say.
///
/// They wait here by themselves, so that outcomes of other deliveries do not wait behind them.
final class LockedEnds: Sendable {
    /// Between two looks whether the delivery is free.
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

    /// Whether any wait, so that it is worth a look before a batch is stored.
    var areThere: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Takes those out of a batch that would wait for a lock now.
    func takeOut(of batch: inout OutcomeBatch) async throws -> [ClosingPart] {
        guard !batch.closing.isEmpty else { return [] }
        let locked = try await store.lockedParts(Set(batch.closing.map(\.claim.part)))
        let taken = batch.closing.filter { locked.contains($0.claim.part) }
        batch.closing.removeAll { locked.contains($0.claim.part) }
        return taken
    }

    /// Has ends wait; all else of their parts is stored.
    ///
    /// - Returns: whether somebody has to call ``next()`` from now on.
    func add(_ ends: [ClosingPart]) -> Bool {
        guard !ends.isEmpty else { return false }
        return state.withLock { state in
            state.waiting += ends
            defer { state.isWatched = true }
            return !state.isWatched
        }
    }

    /// Stores the ends whose delivery is free by now.
    ///
    /// - Returns: what became of which parts; nil if none waits any more.
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
