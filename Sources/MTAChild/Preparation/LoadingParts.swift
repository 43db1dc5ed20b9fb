import Store
import Synchronization

/// The parts between their claim and the dispatch state: their leases are renewed, their deliveries are watched, and their loads can be given up.
final class LoadingParts: Sendable {
    private struct Load {
        let part: ClaimedPart
        let task: Task<Void, Never>
    }

    private struct State {
        var loads: [PartToken: Load] = [:]
        /// Of which some are of several parts.
        var running = 0
        /// Those who wait until nothing is loaded any more.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// The parts, with their tokens.
    var tokens: Set<PartToken> { state.withLock { Set($0.loads.keys) } }
    var deliveries: Set<Int64> { state.withLock { Set($0.loads.values.map(\.part.deliveryID)) } }
    /// The number of loads; some are of several parts.
    var count: Int { state.withLock { $0.running } }

    /// Loads parts in a task of their own. What has the parts then must have them when the work returns.
    func start(_ parts: [ClaimedPart], _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        let tokens = parts.map { PartToken(part: $0.id, token: $0.fencingToken) }
        // Under the lock, so that who gives loads up finds the task.
        return state.withLock { state in
            let task = Task {
                await work()
                self.end(tokens)
            }
            for (token, part) in zip(tokens, parts) { state.loads[token] = Load(part: part, task: task) }
            state.running += 1
            return task
        }
    }

    private func end(_ tokens: [PartToken]) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            for token in tokens { state.loads[token] = nil }
            state.running -= 1
            guard state.loads.isEmpty else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Cancels the loads of some parts; they go back as they came, and with them what is loaded together with them.
    func giveUp(where isGivenUp: (PartToken, ClaimedPart) -> Bool) {
        let tasks = state.withLock { state in
            state.loads.filter { isGivenUp($0.key, $0.value.part) }.values.map(\.task)
        }
        for task in tasks { task.cancel() }
    }

    /// Returns when nothing is loaded any more.
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
