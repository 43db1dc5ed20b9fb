import Store
import Synchronization

/// The parts between their claim and the dispatch state. Their leases are renewed, their deliveries are watched, and
/// their loads can be cancelled.
final class LoadingParts: Sendable {
    private struct Load {
        let part: ClaimedPart
        let task: Task<Void, Never>
    }

    private struct State {
        var loads: [PartToken: Load] = [:]
        /// The number of running loads; one load may have several parts.
        var running = 0
        /// The tasks that wait until nothing is being loaded.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// The parts, with their tokens.
    var tokens: Set<PartToken> { state.withLock { Set($0.loads.keys) } }
    var deliveries: Set<Int64> { state.withLock { Set($0.loads.values.map(\.part.deliveryID)) } }
    /// The number of loads; one load may have several parts.
    var count: Int { state.withLock { $0.running } }

    /// Registers parts until their ``end(_:)``, with the task that loads them. The dispatch state must have the parts
    /// before they end here.
    func hold(_ parts: [ClaimedPart], for load: @Sendable () -> Task<Void, Never>) -> Task<Void, Never> {
        // Under the lock, so that ``giveUp(where:)`` finds the task, and ``end(_:)`` the parts.
        state.withLock { state in
            let task = load()
            for part in parts { state.loads[Self.token(part)] = Load(part: part, task: task) }
            state.running += 1
            return task
        }
    }

    /// Removes parts whose load has ended.
    func end(_ parts: [ClaimedPart]) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            for part in parts { state.loads[Self.token(part)] = nil }
            state.running -= 1
            guard state.loads.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private static func token(_ part: ClaimedPart) -> PartToken { PartToken(part: part.id, token: part.fencingToken) }

    /// Cancels the loads of some parts. The parts go back unchanged, as do others in the same load.
    func giveUp(where isGivenUp: (PartToken, ClaimedPart) -> Bool) {
        let tasks = state.withLock { state in
            state.loads.filter { isGivenUp($0.key, $0.value.part) }.values.map(\.task)
        }
        for task in tasks { task.cancel() }
    }

    /// Returns when nothing is being loaded.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.loads.isEmpty { state.waiters.append(continuation) }
                return state.loads.isEmpty
            }
            if isOver { continuation.resume() }
        }
    }
}
