import PushCore
import Synchronization

/// Keeps one connection to the database: whoever needs it gets it, and when it was lost a new one is made, with
/// exponential back-off, until there is one or nobody wants it any more.
///
/// A connection whose server has refused to write is dropped like a lost one: with a connection string that names several
/// servers and asks for `target_session_attrs=read-write` the next one leads to the primary.
///
/// It repeats no statement: what ran when the connection broke fails with an error whose `isConnectionLost` is true, and
/// the caller decides.
public final class ReconnectingConnection: Sendable {
    private struct State {
        var connection: PostgresConnection?
        var connectedAt: ContinuousClock.Instant?
        var attempt: Task<Void, Never>?
        var waiters: [UInt64: CheckedContinuation<PostgresConnection, any Error>] = [:]
        var nextWaiter: UInt64 = 0
        /// The pauses between failed attempts.
        var backOff: BackOff
        /// The pauses after connections that were made and did not last.
        var losses = ReconnectingConnection.usualBackOff
        /// Whether the last server refused to write: then the next one is asked.
        var mayBeReadOnly = false
        /// The number of connections made.
        var made: UInt64 = 0
        var isClosed = false
    }

    private let configuration: PostgresConfiguration
    private let prepare: @Sendable (PostgresConnection) async throws -> Void
    private let onEvent: @Sendable (ReconnectingConnectionEvent) -> Void
    private let state: Mutex<State>

    /// 100 ms to 4 s bring a process back soon after a restart without a storm on a long outage.
    ///
    /// Owners of leases must be back well within a lease (15 s) after those who look for lost ones, whose pause may have been short.
    public static let usualBackOff = BackOff(initial: .milliseconds(100), maximum: .seconds(4))
    /// After a connection that lived at least so long the first pause is the shortest again; a server that drops each one at
    /// once is not stormed.
    private static let lasting = Duration.seconds(10)
    /// A server that lets us in is worth another attempt soon: its sessions may have been ended on purpose.
    private static let longestPauseAfterLoss = Duration.seconds(1)
    /// A server that cannot write is not likely to be able to at once.
    private static let longestPauseAfterReadOnly = Duration.seconds(10)

    /// Makes one; it connects when it is first asked.
    ///
    /// - Parameters:
    ///   - configuration: how to connect.
    ///   - backOff: the delays between attempts.
    ///   - prepare: run on each new connection before anybody gets it (LISTEN, SET); a failure counts as a failed attempt.
    ///   - onEvent: told of connections, losses and failed attempts; must not block.
    public init(
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

    /// Runs the closure with an open connection, waiting for one as long as it takes (cancel the task to give up).
    public func withConnection<T: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresConnection) async throws -> T
    ) async throws -> T {
        try await body(connection())
    }

    /// An open connection; waits for one as long as it takes (cancel the task to give up).
    public func connection() async throws -> PostgresConnection {
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

    /// The connection if there is an open one now.
    public var currentConnection: PostgresConnection? {
        state.withLock { $0.connection }.flatMap { Self.isFit($0) ? $0 : nil }
    }

    /// The number of connections made so far: when it has grown, the database was out of reach in between, and what was asked
    /// meanwhile may have waited.
    public var connectionsMade: UInt64 { state.withLock(\.made) }

    /// Closes the connection and fails those who wait.
    public func close() async {
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

    /// What the one who asks for a connection gets at once.
    private enum Answer {
        case open(PostgresConnection)
        case refused(any Error)
        /// There is none; and what has become of the one that there was.
        case later(ReconnectingConnectionEvent?)
    }

    private func wait(_ id: UInt64, _ continuation: CheckedContinuation<PostgresConnection, any Error>) {
        let answer = state.withLock { state -> Answer in
            if state.isClosed { return .refused(Mailbox.closedError) }
            // Cancellation comes before this, or finds the waiter registered.
            if Task.isCancelled { return .refused(CancellationError()) }
            if let connection = state.connection, Self.isFit(connection) { return .open(connection) }
            let wasLost = state.connection != nil
            let isReadOnly = state.connection?.isReadOnlyServer ?? false
            if isReadOnly { state.mayBeReadOnly = true }
            let pause = wasLost ? Self.pauseAfterLoss(&state) : .zero
            state.connection = nil
            state.waiters[id] = continuation
            if state.attempt == nil {
                // It holds the connection only during an attempt, so that dropping it ends it.
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

    /// How long to wait before the first attempt: a moment at random, as all others have lost the same server; longer each
    /// time after connections that did not last.
    private static func pauseAfterLoss(_ state: inout State) -> Duration {
        if let connectedAt = state.connectedAt, .now - connectedAt >= lasting { state.losses.reset() }
        let isReadOnly = state.connection?.isReadOnlyServer ?? false
        state.losses.maximum = isReadOnly ? longestPauseAfterReadOnly : longestPauseAfterLoss
        return state.losses.next()
    }

    /// One attempt; returns the delay before the next, nil when there is a connection or it is closed.
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

    /// Whether the server of a connection writes nothing. That a statement was refused as a write says it of its transaction only.
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

/// What a ``ReconnectingConnection`` tells its owner, for the log.
public enum ReconnectingConnectionEvent: Sendable {
    case connected(backendPID: Int32)
    /// A connection was made, after one whose server had refused to write, and this one's writes nothing either.
    case readOnly
    /// The connection was found to be gone.
    case lost
    /// The connection was given up, as its server refused to write.
    case dropped
    /// Nobody wants it any more.
    case closed
    /// An attempt failed; the next comes after the delay.
    case attemptFailed(PostgresError, attempt: Int, nextDelay: Duration)
}
