import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The state that callers and the connection's thread share: requests one way, the connection's state the other.
final class Mailbox: Sendable {
    /// What has arrived since the thread last checked.
    struct Mail {
        var submissions: [Submission] = []
        var cancelled: [Request] = []
        /// Whether the running statement, whatever it is, must be cancelled.
        var cancelRunning = false
        /// Whether a cancel request has reached the server.
        var cancelDelivered = false
        var close = false

        var isEmpty: Bool {
            submissions.isEmpty && cancelled.isEmpty && !cancelRunning && !cancelDelivered && !close
        }
    }

    private struct State {
        var mail = Mail()
        /// Whether the thread waits in `poll` and needs a signal.
        var sleeps = false
        /// Why no more requests are accepted.
        var ended: PostgresError?
        var closeWaiters: [CheckedContinuation<Void, Never>] = []
        var nextSession: UInt64 = 1
        /// Whether the server has reported that it cannot write.
        var isReadOnly = false
    }

    private let state = Mutex(State())
    let wakeUp: WakeUp

    init() throws(PostgresError) { wakeUp = try WakeUp() }

    /// Whether requests are accepted.
    var isOpen: Bool { state.withLock { $0.ended == nil && !$0.mail.close } }

    /// Whether the server has refused to write.
    var isReadOnly: Bool { state.withLock { $0.isReadOnly } }

    /// Notes what an error shows about the server (thread only).
    func note(_ error: PostgresError) {
        if error.isReadOnlyServer { state.withLock { $0.isReadOnly = true } }
    }

    /// Returns a number for an exclusive session.
    func newSession() -> UInt64 {
        state.withLock { state in
            defer { state.nextSession += 1 }
            return state.nextSession
        }
    }

    /// Hands a request to the thread, or fails it if the connection has ended.
    func submit(_ submission: Submission) {
        let refusal: PostgresError? = post { state in
            if let ended = state.ended { return ended }
            if state.mail.close { return Mailbox.closedError }
            state.mail.submissions.append(submission)
            return nil
        }
        if let refusal { submission.fail(refusal) }
    }

    /// Submits a request and waits for its reply; cancelling the task cancels the request.
    func perform(_ work: Request.Work, session: UInt64? = nil) async throws -> Reply {
        let request = Request(work, session: session)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                submit(Submission(request: request, continuation: continuation))
            }
        } onCancel: {
            request.markCancelled()
            post { $0.mail.cancelled.append(request) }
        }
    }

    /// As ``perform(_:session:)``, for work that must be done even if the task was cancelled (COMMIT, ROLLBACK).
    func performUncancelled(_ work: Request.Work, session: UInt64? = nil) async throws -> Reply {
        try await withCheckedThrowingContinuation { continuation in
            submit(Submission(request: Request(work, session: session), continuation: continuation))
        }
    }

    func requestCancelOfRunning() { post { $0.mail.cancelRunning = true } }
    func reportCancelDelivered() { post { $0.mail.cancelDelivered = true } }
    func requestClose() { post { $0.mail.close = true } }

    /// Closes, and waits until the thread has released the connection.
    func closeAndWait() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isOver = post { state in
                if state.ended != nil { return true }
                state.mail.close = true
                state.closeWaiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Takes what has arrived; if nothing has, the next post will signal (thread only).
    ///
    /// Requests that arrived together with the request to close are not taken; ``end(_:)`` fails them.
    func takeOrSleep() -> Mail? {
        state.withLock { state in
            state.sleeps = state.mail.isEmpty
            if state.mail.isEmpty { return nil }
            if state.mail.close { return state.mail }
            defer { state.mail = Mail() }
            return state.mail
        }
    }

    /// Ends the mailbox: everything in it and everything later fails (thread only).
    func end(_ error: PostgresError) {
        let (submissions, waiters) = state.withLock { state in
            state.ended = error
            defer {
                state.mail = Mail()
                state.closeWaiters = []
            }
            return (state.mail.submissions, state.closeWaiters)
        }
        for submission in submissions { submission.fail(error) }
        for waiter in waiters { waiter.resume() }
    }

    static let closedError = PostgresError(code: .closed, message: "the connection was closed by its owner")

    /// Changes the state, and wakes the thread if it is sleeping.
    @discardableResult
    private func post<T: Sendable>(_ change: (inout sending State) -> sending T) -> T {
        let (value, mustSignal) = state.withLock { state in
            let value = change(&state)
            defer { state.sleeps = false }
            return (value, state.sleeps)
        }
        if mustSignal { wakeUp.signal() }
        return value
    }
}
