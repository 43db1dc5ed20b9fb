import PushCore
import Store
import Synchronization

/// Loads of parts whose content reads a target mapping's view, which is of other people's making and may take any time.
///
/// They have connections of their own, so that no claim and no other load waits behind one. On the first, statements have so little
/// time that a delivery whose view is slow keeps the others waiting for that long once; then it goes over the second, until its view
/// answers quickly again. Each takes one load at a time: those that wait need not be tried when their delivery has just failed.
final class ViewLoads: Sendable {
    /// What is known of a delivery's view.
    private struct Pace {
        var isSlow = false
        var problem: (LoadProblem, at: ContinuousClock.Instant)?
    }

    /// A load that took longer is a slow one. With an index on the key it takes hundredths of a second.
    private static let slow = Duration.seconds(1)
    /// A child serves few deliveries at a time.
    private static let most = 64

    private let quickStore: Store
    private let slowStore: Store
    private let timeout: Duration
    private let quickTurn = Turn()
    private let slowTurn = Turn()
    private let paces = Mutex<[Int64: Pace]>([:])

    /// - Parameters:
    ///   - quick: a connection whose statements end after ``quickTimeout(_:)``.
    ///   - slow: a connection whose statements end after the timeout.
    ///   - timeout: how long the load of a part may take.
    init(quick: Store, slow: Store, timeout: Duration) {
        quickStore = quick
        slowStore = slow
        self.timeout = timeout
    }

    /// How long statements take at most where all deliveries share the connection: nobody notices such a delay once.
    static func quickTimeout(_ timeout: Duration) -> Duration { min(timeout, .seconds(2)) }

    /// Reads a part.
    ///
    /// Throws ``LoadProblem`` with the view's name if it does not answer in time.
    func load(_ part: ClaimedPart, _ fields: MessageFields) async throws -> LoadedPart {
        let asked = ContinuousClock.now
        if let loaded = try await loadQuickly(part, fields) { return loaded }
        return try await slowTurn.run {
            if let problem = problem(of: part.deliveryID, since: asked) { throw problem }
            return try await measured(part.deliveryID) {
                try await slowStore.loadReadable(part, fields, within: timeout)
            }
        }
    }

    /// - Returns: nil if the delivery's view is slow.
    private func loadQuickly(_ part: ClaimedPart, _ fields: MessageFields) async throws -> LoadedPart? {
        guard !isSlow(part.deliveryID) else { return nil }
        return try await quickTurn.run {
            guard !isSlow(part.deliveryID) else { return nil }
            do {
                return try await measured(part.deliveryID) {
                    try await quickStore.loadReadable(part, fields, within: Self.quickTimeout(timeout))
                }
            } catch let problem as LoadProblem where problem.isTimeout {
                return nil
            }
        }
    }

    private func isSlow(_ delivery: Int64) -> Bool { paces.withLock { $0[delivery]?.isSlow ?? false } }

    private func problem(of delivery: Int64, since moment: ContinuousClock.Instant) -> LoadProblem? {
        paces.withLock { paces in
            guard let (problem, at) = paces[delivery]?.problem, at >= moment else { return nil }
            return problem
        }
    }

    private func measured(_ delivery: Int64, _ load: () async throws -> LoadedPart) async throws -> LoadedPart {
        let begin = ContinuousClock.now
        let wasSlow = isSlow(delivery)
        do {
            let loaded = try await load()
            note(delivery, Pace(isSlow: ContinuousClock.now - begin > Self.slow))
            return loaded
        } catch let problem as LoadProblem where problem.isTimeout {
            // Where it had little time it is tried again.
            note(delivery, Pace(isSlow: true, problem: wasSlow ? (problem, .now) : nil))
            throw problem
        }
    }

    private func note(_ delivery: Int64, _ pace: Pace) {
        paces.withLock { paces in
            // What is forgotten is found out again.
            if paces.count >= Self.most, paces[delivery] == nil { paces.removeAll() }
            paces[delivery] = pace.isSlow ? pace : nil
        }
    }
}

/// Lets one at a time do something, in the order in which they come.
private final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var waiters: [(id: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        var nextWaiter: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Throws `CancellationError` if the task is cancelled before its turn has come.
    func run<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        guard await take() else { throw CancellationError() }
        defer { pass() }
        return try await body()
    }

    private func take() async -> Bool {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    // Cancellation comes before this, or finds the waiter.
                    if Task.isCancelled { return false }
                    guard state.isTaken else {
                        state.isTaken = true
                        return true
                    }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    private func pass() {
        let next = state.withLock { state in
            state.isTaken = !state.waiters.isEmpty
            return state.waiters.isEmpty ? nil : state.waiters.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }
}
