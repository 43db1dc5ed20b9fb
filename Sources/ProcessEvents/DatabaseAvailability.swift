import Logging
import PostgresClient
import Store
import Synchronization

/// Whether the database is there for a process: says once that it is away, and once that it is back and after how long.
///
/// A server that answers and takes no writes is not away: that it is read-only is told once, and that it is writable again.
///
/// All connections of the process are observed. A session that was ended and is made again at once is no outage: the database
/// is away when an attempt to connect has failed, or when a lost connection is not there again after a moment.
public final class DatabaseAvailability: Sendable {
    private struct State {
        /// Connections that are down, each since its loss.
        var down: [String: ContinuousClock.Instant] = [:]
        /// What kind of trouble was told last; nil while the database is there, as far as was told.
        var told: String?
        /// When the present outage began.
        var since: ContinuousClock.Instant?
        /// Connections whose server takes no writes.
        var readOnly: Set<String> = []
        /// When the first of these was found; nil if there is none.
        var readOnlySince: ContinuousClock.Instant?
        var observers = 0
    }

    private let logger: Logger
    private let state = Mutex(State())

    /// How long a lost connection may take to come again before it is an outage: a server that answers takes some milliseconds,
    /// after a pause of 1 s at most.
    private static let moment = Duration.seconds(2)

    /// Makes one for a process.
    public init(logger: Logger) {
        self.logger = logger
    }

    /// Whether the database is away, as far as was told.
    public var isAway: Bool { state.withLock { $0.told != nil } }

    /// What observes one connection.
    ///
    /// - Parameter role: what it is for; it stands in lines for developers.
    public func observer(_ role: String) -> @Sendable (ReconnectingConnectionEvent) -> Void {
        let number = state.withLock { state in
            state.observers += 1
            return state.observers
        }
        let key = "\(role) (\(number))"
        return { [self] event in note(event, key) }
    }

    /// Opens a store for a role, observed from its first attempt on.
    ///
    /// - Throws: what `open` throws; if it failed, the database is away until an attempt for the same role succeeds.
    public func opening<Value: Sendable>(
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
            logger.debug("The connection to the database for \(key) was given up: its server does not write.")
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
        // A server that says so is there.
        restored(key)
        let isFirst = state.withLock { state in
            state.readOnly.insert(key)
            defer { if state.readOnlySince == nil { state.readOnlySince = .now } }
            return state.readOnlySince == nil
        }
        if isFirst { logger.event(.databaseReadOnly, "\(PostgresError.readOnlyWords)") }
    }

    /// It is so for all connections if one whose server took no writes has a server that does: the others find out when they write.
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
            logger.event(.databaseAway, "The database \(isReachable ? "cannot be used" : "is away"): \(error)")
        } else if before != kind, !Self.passing.contains(kind) {
            logger.notice("The database still \(isReachable ? "cannot be used" : "is away"): \(error)")
        } else {
            logger.debug("The database is away for \(key): \(error)")
        }
    }

    /// - Parameter isQuiet: the connection is not wanted any more, which says nothing of the database.
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
            logger.debug("The connection to the database for \(key) is made again.")
        }
    }

    /// Tenths are exact enough for an outage.
    private static func seconds(_ duration: Duration) -> String {
        let tenths = Int64((duration / .milliseconds(100)).rounded(.up))
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// Two errors of one kind are told once.
    private static func kind(_ error: any Error) -> String {
        switch error {
        case let error as PostgresError: error.sqlState ?? "\(error.code)"
        case let error as StoreError: "\(error.code)"
        default: "\(type(of: error))"
        }
    }

    /// A server that ends or starts says so on its way: it goes on by itself (SQLSTATE 57P01 to 57P03), and so does what a crash
    /// leaves behind for a moment.
    private static let passing: Set<String> = ["57P01", "57P02", "57P03", "connection"]

    /// Whether there is a server, and what is there cannot be used.
    private static func isReachable(_ error: any Error) -> Bool {
        (error as? PostgresError).map { [.pooler, .server, .type].contains($0.code) } ?? true
    }

    /// Whether an error says no more than that the database is away or read-only, which is told once for the whole process.
    public static func isOutage(_ error: any Error) -> Bool {
        guard let error = error as? PostgresError else { return false }
        return error.isConnectionLost || error.isReadOnlyServer
            || error.sqlState.map { $0.hasPrefix("08") || passing.contains($0) } ?? false
    }
}

extension Logger {
    /// Logs what could not be done, and why; at the level debug if the reason is that the database is away or read-only, as that is an event
    /// of its own, told once, and whatever statement met it says nothing.
    public func failure(
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
    /// A pause as people write it, such as `140 ms`, `4.2 s` or `10 min`.
    public var pauseText: String {
        let tenths = Int64((self / .milliseconds(100)).rounded())
        switch tenths {
        case ..<10: return "\(Int64((self / .milliseconds(1)).rounded())) ms"
        case ..<1_200: return tenths.isMultiple(of: 10) ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
        default: return "\(tenths / 600) min"
        }
    }
}

/// Whether the database takes writes of a process, by the last one that it made: a server can be there, and answer what is read, and still
/// take nothing, as a standby does, or one whose disk is full or whose replica does not confirm.
public final class DatabasePulse: Sendable {
    private let last: Mutex<ContinuousClock.Instant?>

    /// Some attempts of those that make a write every few seconds; a longer time is no slow commit any more.
    public static let longest = Duration.seconds(10)

    /// - Parameter startsUp: whether it counts as well until the first write has been tried.
    public init(startsUp: Bool = false) {
        last = Mutex(startsUp ? .now : nil)
    }

    /// A write was committed, or was refused.
    public func note(_ succeeded: Bool, at now: ContinuousClock.Instant = .now) {
        last.withLock { $0 = succeeded ? now : nil }
    }

    /// Whether one was committed lately, and none was refused since.
    public func isUp(at now: ContinuousClock.Instant = .now) -> Bool {
        last.withLock { $0 }.map { now - $0 <= Self.longest } ?? false
    }
}
