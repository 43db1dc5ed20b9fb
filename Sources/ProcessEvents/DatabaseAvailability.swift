import Logging
import PostgresClient
import Store
import Synchronization

/// Tracks whether a process can use the database. It logs an outage once, and its end with its length once.
///
/// A server that answers but takes no writes is not an outage. It logs once that the server is read-only, and once that
/// it is writable again.
///
/// It observes all connections of the process. A session that ended and is restored at once is not an outage. The
/// database is unavailable when an attempt to connect has failed, or when a lost connection is not restored within a
/// moment.
package final class DatabaseAvailability: Sendable {
    private struct State {
        /// Connections that are down, with the time of each loss.
        var down: [String: ContinuousClock.Instant] = [:]
        /// The kind of error logged last; nil while no outage is logged.
        var told: String?
        /// When the current outage began.
        var since: ContinuousClock.Instant?
        /// Connections whose server takes no writes.
        var readOnly: Set<String> = []
        /// When the first of these was found; nil if there is none.
        var readOnlySince: ContinuousClock.Instant?
        var observers = 0
    }

    private let logger: Logger
    private let state = Mutex(State())

    /// How long a lost connection may take to be restored before it counts as an outage. A server that answers takes
    /// some milliseconds, after a pause of at most 1 s.
    private static let moment = Duration.seconds(2)

    package init(logger: Logger) {
        self.logger = logger
    }

    /// Whether an outage has been logged and not ended.
    package var isAway: Bool { state.withLock { $0.told != nil } }

    /// An observer for one connection.
    ///
    /// - Parameter role: the purpose of the connection; it appears in debug lines.
    package func observer(_ role: String) -> @Sendable (ReconnectingConnectionEvent) -> Void {
        let number = state.withLock { state in
            state.observers += 1
            return state.observers
        }
        let key = "\(role) (\(number))"
        return { [self] event in note(event, key) }
    }

    /// Opens a store for a role and observes it from the first attempt on.
    ///
    /// - Throws: the error of `open`. The database then counts as unavailable until an attempt for the same role
    ///   succeeds.
    package func opening<Value: Sendable>(
        _ role: String,
        _ open: (_ onEvent: @escaping @Sendable (ReconnectingConnectionEvent) -> Void) async throws -> Value
    ) async throws -> Value {
        let key = "\(role) (first)"
        do {
            let value = try await open(observer(role))
            restored(key)
            writable(key)
            return value
        } catch is CancellationError {
            restored(key, quietly: true)
            throw CancellationError()
        } catch {
            failed(key, error)
            throw error
        }
    }

    private func note(_ event: ReconnectingConnectionEvent, _ key: String) {
        switch event {
        case .connected:
            restored(key)
            writable(key)
        case .readOnly: readOnly(key)
        case .dropped:
            logger.debug("The connection to the database for \(key) was dropped: its server takes no writes.")
        case .closed: restored(key, quietly: true)
        case .lost: lost(key)
        case .attemptFailed(let error, _, _): failed(key, error)
        }
    }

    private func lost(_ key: String) {
        let now = ContinuousClock.now
        state.withLock { state in
            state.down[key] = now
            if state.since == nil { state.since = now }
        }
        logger.debug("The connection to the database for \(key) is lost.")
        Task { [weak self] in
            try? await Task.sleep(for: Self.moment)
            guard let self, self.state.withLock({ $0.down[key] == now }) else { return }
            let words = "the connection was lost, and the server does not answer"
            self.failed(key, PostgresError(code: .connection, message: words))
        }
    }

    private func readOnly(_ key: String) {
        // A server that says so is reachable.
        restored(key)
        let isFirst = state.withLock { state in
            state.readOnly.insert(key)
            defer { if state.readOnlySince == nil { state.readOnlySince = .now } }
            return state.readOnlySince == nil
        }
        if isFirst { logger.event(.databaseReadOnly, "\(PostgresError.readOnlyWords)") }
    }

    /// One connection whose server takes writes again counts for all: the others find out when they write.
    private func writable(_ key: String) {
        let duration = state.withLock { state -> Duration? in
            guard state.readOnly.contains(key), let since = state.readOnlySince else { return nil }
            state.readOnly = []
            state.readOnlySince = nil
            return .now - since
        }
        guard let duration else { return }
        let seconds = Self.seconds(duration)
        logger.event(.databaseWritable, "The database is writable again after \(seconds) s", ["seconds": "\(seconds)"])
    }

    private func failed(_ key: String, _ error: any Error) {
        if let error = error as? PostgresError, error.isReadOnlyServer { return readOnly(key) }
        let now = ContinuousClock.now
        let kind = Self.kind(error)
        let before = state.withLock { state in
            if state.down[key] == nil { state.down[key] = now }
            if state.since == nil { state.since = now }
            defer { state.told = kind }
            return state.told
        }
        let isReachable = Self.isReachable(error)
        if before == nil {
            logger.event(.databaseAway, "The database \(isReachable ? "cannot be used" : "is unreachable"): \(error)")
        } else if before != kind, !Self.passing.contains(kind) {
            logger.notice("The database still \(isReachable ? "cannot be used" : "is unreachable"): \(error)")
        } else {
            logger.debug("The database is unavailable for \(key): \(error)")
        }
    }

    /// - Parameter isQuiet: the connection is no longer wanted, which says nothing about the database.
    private func restored(_ key: String, quietly isQuiet: Bool = false) {
        let (wasDown, outage) = state.withLock { state -> (Bool, Duration?) in
            let wasDown = state.down.removeValue(forKey: key) != nil
            guard state.down.isEmpty, !isQuiet, let since = state.since else { return (wasDown, nil) }
            defer {
                state.since = nil
                state.told = nil
            }
            return (wasDown, state.told == nil ? nil : .now - since)
        }
        if let outage {
            let seconds = Self.seconds(outage)
            logger.event(.databaseBack, "The database is back after \(seconds) s", ["seconds": "\(seconds)"])
        } else if wasDown {
            logger.debug("The connection to the database for \(key) is restored.")
        }
    }

    /// The text of an outage's length, in tenths of a second.
    private static func seconds(_ duration: Duration) -> String {
        let tenths = Int64((duration / .milliseconds(100)).rounded(.up))
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// The kind of an error; two errors of one kind are logged once.
    private static func kind(_ error: any Error) -> String {
        switch error {
        case let error as PostgresError: error.sqlState ?? "\(error.code)"
        case let error as StoreError: "\(error.code)"
        default: "\(type(of: error))"
        }
    }

    /// Errors that pass: a server that is shutting down or starting up (SQLSTATE 57P01 to 57P03), and the lost
    /// connections after a crash.
    private static let passing: Set<String> = ["57P01", "57P02", "57P03", "connection"]

    /// Whether the server is reachable but cannot be used.
    private static func isReachable(_ error: any Error) -> Bool {
        (error as? PostgresError).map { [.pooler, .server, .type].contains($0.code) } ?? true
    }

    /// Whether an error only means that the database is unavailable or read-only, which is logged once for the whole
    /// process.
    package static func isOutage(_ error: any Error) -> Bool {
        guard let error = error as? PostgresError else { return false }
        return error.isConnectionLost || error.isReadOnlyServer
            || error.sqlState.map { $0.hasPrefix("08") || passing.contains($0) } ?? false
    }
}

extension Logger {
    /// Logs what failed and why. If the database is unavailable or read-only, it logs at the level debug and without
    /// the statement: the outage is an event of its own, logged once.
    package func failure(
        _ message: @autoclosure () -> String,
        of error: any Error,
        level: Level = .warning,
        _ metadata: Metadata = [:]
    ) {
        if DatabaseAvailability.isOutage(error) {
            let cause = (error as? PostgresError)?.withoutStatement ?? error
            return log(level: .debug, "\(message()): \(cause)", metadata: metadata)
        }
        log(level: level, "\(message()): \(error)", metadata: metadata)
    }
}

extension Duration {
    /// The text of a pause, such as `140 ms`, `4.2 s` or `10 min`.
    package var pauseText: String {
        let tenths = Int64((self / .milliseconds(100)).rounded())
        switch tenths {
        case ..<10: return "\(Int64((self / .milliseconds(1)).rounded())) ms"
        case ..<1_200: return tenths.isMultiple(of: 10) ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
        default: return "\(tenths / 600) min"
        }
    }
}
