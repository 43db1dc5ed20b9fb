import PushCore
import Store
import Synchronization

/// Loads parts whose content reads a target mapping's view. Others define the view, and reading it may take any time.
///
/// Views have separate connections, so that no claim and no other load waits for one. On the first connection,
/// statements have a short timeout: a delivery with a slow view delays the others by that time once. Then it uses the
/// second connection until its view is fast again. Each connection takes one load at a time; waiting loads of a
/// delivery that has just failed are not tried.
final class ViewLoads: Sendable {
    /// What is known about a delivery's view.
    private struct Pace {
        var isSlow = false
        var problem: (LoadProblem, at: ContinuousClock.Instant)?
    }

    /// A load that took longer is slow; with an index on the key it takes hundredths of a second.
    private static let slow = Duration.seconds(1)
    /// A child serves few deliveries at a time.
    private static let maxCount = 64

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

    /// The statement timeout where all deliveries share the connection: a single delay of this length goes unnoticed.
    static func quickTimeout(_ timeout: Duration) -> Duration { min(timeout, .seconds(2)) }

    /// Reads a part.
    ///
    /// Throws ``LoadProblem`` with the view's name if the view does not answer in time.
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
            // A load that had the short timeout is tried again.
            note(delivery, Pace(isSlow: true, problem: wasSlow ? (problem, .now) : nil))
            throw problem
        }
    }

    private func note(_ delivery: Int64, _ pace: Pace) {
        paces.withLock { paces in
            // Forgotten paces are measured again.
            if paces.count >= Self.maxCount, paces[delivery] == nil { paces.removeAll() }
            paces[delivery] = pace.isSlow ? pace : nil
        }
    }
}

/// Runs one body at a time, in the order of the calls.
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
                    // The cancellation handler ran before this, or it finds the waiter.
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
