import PushCore
import Synchronization

/// Keeps one connection to the database for all its callers. When it is lost, a new one is opened, with exponential
/// back-off between attempts, until one succeeds or the object is released.
///
/// A connection whose server refused to write is dropped like a lost one. If the connection string names several
/// servers with `target_session_attrs=read-write`, the next connection leads to the primary.
///
/// It repeats no statement. A statement that ran when the connection broke fails with an error whose `isConnectionLost`
/// is true, and the caller decides.
package final class ReconnectingConnection: Sendable {
    private struct State {
        var connection: PostgresConnection?
        var connectedAt: ContinuousClock.Instant?
        var attempt: Task<Void, Never>?
        var waiters: [UInt64: CheckedContinuation<PostgresConnection, any Error>] = [:]
        var nextWaiter: UInt64 = 0
        /// The pauses between failed attempts.
        var backOff: BackOff
        /// The pauses after connections that opened but did not last.
        var losses = ReconnectingConnection.usualBackOff
        /// Whether the last server refused to write; the next one is then checked.
        var mayBeReadOnly = false
        /// The number of connections opened.
        var made: UInt64 = 0
        var isClosed = false
    }

    private let configuration: PostgresConfiguration
    private let prepare: @Sendable (PostgresConnection) async throws -> Void
    private let onEvent: @Sendable (ReconnectingConnectionEvent) -> Void
    private let state: Mutex<State>

    /// With 100 ms to 4 s a process reconnects soon after a server's restart, and a long outage causes no storm.
    ///
    /// The processes that look for expired leases may reconnect first. Owners must follow well within the length of a
    /// lease (15 s).
    package static let usualBackOff = BackOff(initial: .milliseconds(100), maximum: .seconds(4))
    /// After a connection that lived at least this long, the pauses start again with the shortest. This avoids a storm
    /// on a server that drops each connection at once.
    private static let lasting = Duration.seconds(10)
    /// A server that accepts connections is soon tried again: its sessions may have been terminated on purpose.
    private static let maxPauseAfterLoss = Duration.seconds(1)
    /// A server that cannot write will probably not be able to soon.
    private static let maxPauseAfterReadOnly = Duration.seconds(10)

    /// Makes one, which connects when a caller first needs it.
    ///
    /// - Parameters:
    ///   - configuration: how to connect.
    ///   - backOff: the delays between attempts.
    ///   - prepare: runs on each new connection before callers get it (LISTEN, SET); a failure counts as a failed
    ///     attempt.
    ///   - onEvent: called on connections, losses and failed attempts; must not block.
    package init(
        _ configuration: PostgresConfiguration,
        backOff: BackOff = ReconnectingConnection.usualBackOff,
        prepare: @escaping @Sendable (PostgresConnection) async throws -> Void = { _ in },
        onEvent: @escaping @Sendable (ReconnectingConnectionEvent) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.prepare = prepare
        self.onEvent = onEvent
        state = Mutex(State(backOff: backOff))
    }

    deinit {
        let (attempt, isClosed) = state.withLock { ($0.attempt, $0.isClosed) }
        attempt?.cancel()
        if !isClosed { onEvent(.closed) }
    }

    /// Runs the closure with an open connection, waiting for one without a limit (cancel the task to give up).
    package func withConnection<T: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConnection) async throws -> T
    ) async throws -> T {
        try await body(connection())
    }

    /// Returns an open connection, waiting for one without a limit (cancel the task to give up).
    package func connection() async throws -> PostgresConnection {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait(id, continuation)
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// The current connection, if one is open.
    package var currentConnection: PostgresConnection? {
        state.withLock { $0.connection }.flatMap { Self.isFit($0) ? $0 : nil }
    }

    /// The number of connections opened so far. If it has grown, the database was unreachable in between, and requests
    /// of that time may have waited.
    package var connectionsMade: UInt64 { state.withLock(\.made) }

    /// Closes the connection and fails the waiting callers.
    package func close() async {
        let (connection, attempt, waiters) = state.withLock { state in
            state.isClosed = true
            defer {
                state.connection = nil
                state.waiters = [:]
            }
            return (state.connection, state.attempt, state.waiters)
        }
        attempt?.cancel()
        onEvent(.closed)
        for waiter in waiters.values { waiter.resume(throwing: Mailbox.closedError) }
        await connection?.close()
    }

    /// The immediate answer to a caller that asks for a connection.
    private enum Answer {
        case open(PostgresConnection)
        case refused(any Error)
        /// None is open; with the event that ended the last one, if any.
        case later(ReconnectingConnectionEvent?)
    }

    private func wait(_ id: UInt64, _ continuation: CheckedContinuation<PostgresConnection, any Error>) {
        let answer = state.withLock { state -> Answer in
            if state.isClosed { return .refused(Mailbox.closedError) }
            // Cancellation is either seen here, or finds the waiter registered.
            if Task.isCancelled { return .refused(CancellationError()) }
            if let connection = state.connection, Self.isFit(connection) { return .open(connection) }
            let wasLost = state.connection != nil
            let isReadOnly = state.connection?.isReadOnlyServer ?? false
            if isReadOnly { state.mayBeReadOnly = true }
            let pause = wasLost ? Self.pauseAfterLoss(&state) : .zero
            state.connection = nil
            state.waiters[id] = continuation
            if state.attempt == nil {
                // It holds the object only during an attempt, so that releasing the object ends the loop.
                state.attempt = Task { [weak self] in
                    try? await Task.sleep(for: pause)
                    while !Task.isCancelled, let delay = await self?.attempt() { try? await Task.sleep(for: delay) }
                }
            }
            return .later(wasLost ? (isReadOnly ? .dropped : .lost) : nil)
        }
        switch answer {
        case .open(let connection): continuation.resume(returning: connection)
        case .refused(let error): continuation.resume(throwing: error)
        case .later(let event): if let event { onEvent(event) }
        }
    }

    private static func isFit(_ connection: PostgresConnection) -> Bool {
        connection.isOpen && !connection.isReadOnlyServer
    }

    /// The pause before the first attempt. It is random, because all other clients have lost the same server, and grows
    /// with each connection that did not last.
    private static func pauseAfterLoss(_ state: inout State) -> Duration {
        if let connectedAt = state.connectedAt, .now - connectedAt >= lasting { state.losses.reset() }
        let isReadOnly = state.connection?.isReadOnlyServer ?? false
        state.losses.maximum = isReadOnly ? maxPauseAfterReadOnly : maxPauseAfterLoss
        return state.losses.next()
    }

    /// Makes one attempt; returns the delay before the next, or nil if none is needed.
    private func attempt() async -> Duration? {
        let failure: PostgresError
        do {
            let connection = try await PostgresConnection.connect(configuration)
            try await prepare(connection)
            var isReadOnly = false
            if state.withLock(\.mayBeReadOnly) { isReadOnly = try await Self.isReadOnly(connection) }
            succeed(connection, isReadOnly: isReadOnly)
            return nil
        } catch let error as PostgresError {
            failure = error
        } catch {
            failure = PostgresError(code: .connection, message: "a new connection could not be prepared: \(error)")
        }
        let (delay, attempt) = state.withLock { ($0.backOff.next(), $0.backOff.failures) }
        onEvent(.attemptFailed(failure, attempt: attempt, nextDelay: delay))
        return delay
    }

    /// Whether the server is read-only. A refused write may have been due to its transaction alone.
    private static func isReadOnly(_ connection: PostgresConnection) async throws -> Bool {
        try await connection.execute(PostgresStatement("SHOW transaction_read_only", prepare: false)).text(0, 0) == "on"
    }

    private func succeed(_ connection: PostgresConnection, isReadOnly: Bool) {
        let waiters = state.withLock { state -> [CheckedContinuation<PostgresConnection, any Error>] in
            state.attempt = nil
            guard !state.isClosed else { return [] }
            state.connection = connection
            state.connectedAt = .now
            state.mayBeReadOnly = isReadOnly
            state.made += 1
            state.backOff.reset()
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        onEvent(isReadOnly ? .readOnly : .connected(backendPID: connection.backendPID))
        for waiter in waiters { waiter.resume(returning: connection) }
    }
}
