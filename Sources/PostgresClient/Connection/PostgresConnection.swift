// PostgresClient: PostgreSQL through libpq, for callers that await.
//
// WHAT IT DOES
//   Connections with pipelined statements, transactions, COPY in both directions, scripts, notifications and cancellation; a
//   connection that is made again when it was lost; parameters and results in binary form.
//
// HOW IT IS USED
//   Store uses it for all statements, tests for their own; other modules import it for its configuration and errors.
//   PostgresConnection.connect(_:) with a PostgresConfiguration; execute(_:) for one statement or a group that stands or
//   falls as one; transaction(_:_:), copyIn, copyOut, run(script:), listen(_:) and nextNotification(deadline:).
//   ReconnectingConnection keeps one such connection and prepares each new one before anybody gets it. PostgresResult reads
//   values by row and column; PostgresValue is a parameter.
//
// THREADS AND TASKS
//   Each connection has a thread of its own (ConnectionLoop), which waits in poll for its socket and for callers, and never
//   inside of libpq; a cancel request has one more for a moment. Callers and thread meet in a Mailbox. Groups of many callers
//   are sent as they come, each behind a sync of its own, 64 at once at most. A transaction or a COPY has the connection to
//   itself: who uses the connection itself inside of one waits for ever.
//
// STATE AND FILES
//   A cache of 200 prepared statements a connection; 10,000 notifications that nobody has taken. Files are libpq's own
//   (service and password files, certificates).
//
// FAILURES
//   PostgresError has a code, the SQLSTATE and words without values of the statement. A lost connection fails all who wait,
//   and isConnectionLost is true; nothing is repeated, and after a COMMIT nobody knows whether it happened.
//   ReconnectingConnection dials again with jitter, 4 s at most between failed attempts, and leaves a server that cannot
//   write. A pooler in transaction mode is found out and refused, and so are servers before version 15 and encodings other than
//   UTF8. A task that is cancelled has its statement cancelled at the
//   server. Sessions are set so that a server notices within some 15 s that its client is cut off, and so that statements mean
//   the same wherever they run (SessionSettings): names are looked up in pg_catalog alone. Passwords are never printed.
//
// SETTINGS
//   None of its own: PostgresConfiguration (database.url and database.statementTimeoutSec come in through its callers).
//
// SEE ALSO
//   Connection/ReconnectingConnection.swift, Connection/SessionSettings.swift, Connection/PoolerCheck.swift,
//   Loop/ConnectionLoop.swift, Loop/Mailbox.swift,
//   Loop/StatementCache.swift, Values/PostgresResult.swift, Values/ParameterEncoder.swift

/// A connection to PostgreSQL, made with libpq and served by a thread of its own; callers only await.
///
/// Groups of concurrent callers are pipelined: they are sent as they come, in order, each as one implicit transaction
/// that stands or falls by itself. Transactions, COPY and scripts have the connection to themselves while they last.
/// When the connection is lost everybody who waits gets an error that says so; it does not come back by itself (see
/// ``ReconnectingConnection``). Dropping the last reference closes it.
public final class PostgresConnection: Sendable {
    let mailbox: Mailbox
    /// The server process that serves this connection, as in `pg_stat_activity`; behind a pooler a number of the pooler's.
    public let backendPID: Int32
    /// The server's version as a number, for example 150018 for 15.18.
    public let serverVersion: Int32

    private init(mailbox: Mailbox, backendPID: Int32, serverVersion: Int32) {
        self.mailbox = mailbox
        self.backendPID = backendPID
        self.serverVersion = serverVersion
    }

    deinit { mailbox.requestClose() }

    /// Connects. Throws ``PostgresError/Code/connection`` when no server could be reached or it refused, and
    /// ``PostgresError/Code/pooler`` when what is there gives the connection no session of its own, and
    /// ``PostgresError/Code/server`` when it is too old or keeps texts in another encoding than UTF-8.
    public static func connect(_ configuration: PostgresConfiguration) async throws -> PostgresConnection {
        let connection = try await open(configuration)
        do {
            // First: settings must not land in a session that is somebody else's in a moment.
            try await connection.checkSession(configuration)
            try await connection.begin(configuration)
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    /// Connects and asks for nothing.
    static func open(_ configuration: PostgresConfiguration) async throws -> PostgresConnection {
        let mailbox = try Mailbox()
        let greeting = try await ConnectionLoop.start(configuration, mailbox: mailbox)
        if let problem = ServerCheck.problem(version: greeting.serverVersion, encoding: greeting.serverEncoding) {
            await mailbox.closeAndWait()
            throw problem
        }
        return PostgresConnection(
            mailbox: mailbox,
            backendPID: greeting.backendPID,
            serverVersion: greeting.serverVersion
        )
    }

    /// Takes back whatever was set in the session: settings, locks, prepared statements, temporary objects, what it listens to.
    public func reset(_ configuration: PostgresConfiguration) async throws {
        try await execute(PostgresStatement("DISCARD ALL", prepare: false))
        try await begin(configuration)
    }

    private func begin(_ configuration: PostgresConfiguration) async throws {
        let groups = SessionSettings.groups(configuration, serverVersion: serverVersion)
        for (position, group) in groups.enumerated() {
            do {
                let results = try await execute(group)
                guard position == 0, let last = results.last else { continue }
                if let problem = ServerCheck.problem(replicationRole: try last.text(0, 1)) { throw problem }
            } catch let error as PostgresError where position > 0 && !error.isConnectionLost {
                // A platform that lacks such a setting does without it.
            }
        }
    }

    /// Whether requests are accepted; false once it was closed or found lost.
    public var isOpen: Bool { mailbox.isOpen }

    /// Whether the server has refused a statement because it cannot write (SQLSTATE 25006).
    public var isReadOnlyServer: Bool { mailbox.isReadOnly }

    /// Runs one statement in a transaction of its own.
    ///
    /// Cancelling the task cancels the statement at the server and throws `CancellationError`; it may have been
    /// committed just before.
    @discardableResult
    public func execute(_ statement: PostgresStatement) async throws -> PostgresResult {
        try await execute([statement], session: nil)[0]
    }

    /// Runs statements in order as one implicit transaction, sent at once: one round trip.
    ///
    /// When one fails none of them has an effect, and the error tells which it was. Must not hold BEGIN, COMMIT or COPY.
    @discardableResult
    public func execute(_ group: [PostgresStatement]) async throws -> [PostgresResult] {
        try await execute(group, session: nil)
    }

    /// Runs several statements, without parameters, in the simple protocol: one implicit transaction unless the script
    /// holds its own BEGIN and COMMIT. For migrations.
    public func run(script: String) async throws {
        _ = try await mailbox.perform(.script(script))
    }

    /// Asks the server to cancel what it is running for this connection now; that one fails with SQLSTATE 57014.
    public func cancel() { mailbox.requestCancelOfRunning() }

    /// Closes the connection; what still waits fails with ``PostgresError/Code/closed``.
    public func close() async { await mailbox.closeAndWait() }

    func execute(_ group: [PostgresStatement], session: UInt64?) async throws -> [PostgresResult] {
        guard !group.isEmpty else { return [] }
        try ParameterEncoder.check(group)
        return try await mailbox.perform(.group(group), session: session).results(group.count)
    }
}

extension PostgresConnection {
    /// Runs the closure in a transaction that has the connection to itself: COMMIT when it returns, ROLLBACK when it
    /// throws.
    ///
    /// A COMMIT that the server turned into a rollback (the closure swallowed an error) throws SQLSTATE 25P02. When the
    /// connection is lost during COMMIT nobody knows whether it happened: the error's `isConnectionLost` is true. Inside,
    /// use only the transaction: awaiting the connection itself would wait for ever.
    public func transaction<T: Sendable>(
        _ mode: PostgresTransactionMode = .readCommitted,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        try await transaction(mode, first: []) { transaction, _ in try await body(transaction) }
    }

    /// The same with statements that are sent along with BEGIN, in its round trip; the closure gets their results.
    public func transaction<T: Sendable>(
        _ mode: PostgresTransactionMode = .readCommitted,
        first statements: [PostgresStatement],
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresTransaction, [PostgresResult]) async throws -> T
    ) async throws -> T {
        try ParameterEncoder.check(statements)
        let session = mailbox.newSession()
        let opening = [PostgresStatement(mode.begin, prepare: false)] + statements
        let opened = try await mailbox.perform(.open(opening), session: session).results(opening.count)
        let value: T
        do {
            value = try await body(PostgresTransaction(connection: self, session: session), Array(opened.dropFirst()))
        } catch {
            // The first error is the one to report; a lost connection rolls back by itself.
            let rollback = Request.Work.close([PostgresStatement("ROLLBACK", prepare: false)])
            _ = try? await mailbox.performUncancelled(rollback, session: session)
            throw error
        }
        let commit = Request.Work.close([PostgresStatement("COMMIT", prepare: false)])
        if case .results(let results) = try await mailbox.performUncancelled(commit, session: session),
            results.last?.commandTag == "ROLLBACK"
        {
            throw PostgresError(
                code: .sqlState("25P02"),
                message: "the transaction was rolled back at COMMIT, because one of its statements had failed"
            )
        }
        return value
    }
}

extension PostgresConnection {
    /// Runs the closure in a read-only transaction that sees one snapshot and is rolled back at its end, whatever it did.
    ///
    /// So what other people's functions do in it leaves nothing behind: no setting, no notification, no trigger that waits for the
    /// commit. Session locks and prepared statements outlive it, see ``reset(_:)``.
    public func readOnly<T: Sendable>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        let session = mailbox.newSession()
        let begin = PostgresStatement(PostgresTransactionMode.snapshot.begin, prepare: false)
        _ = try await mailbox.perform(.open([begin]), session: session)
        let rollback = Request.Work.close([PostgresStatement("ROLLBACK", prepare: false)])
        do {
            let value = try await body(PostgresTransaction(connection: self, session: session))
            _ = try await mailbox.performUncancelled(rollback, session: session)
            return value
        } catch {
            _ = try? await mailbox.performUncancelled(rollback, session: session)
            throw error
        }
    }
}

/// The inside of a transaction block; valid until the closure that got it returns.
public struct PostgresTransaction: Sendable {
    let connection: PostgresConnection
    let session: UInt64

    /// Runs one statement in the transaction.
    @discardableResult
    public func execute(_ statement: PostgresStatement) async throws -> PostgresResult {
        try await connection.execute([statement], session: session)[0]
    }

    /// Runs statements in order, sent at once. After an error the transaction can only be rolled back, or back to a
    /// savepoint.
    @discardableResult
    public func execute(_ group: [PostgresStatement]) async throws -> [PostgresResult] {
        try await connection.execute(group, session: session)
    }

    /// Copies rows into a table, as the connection's own `copyIn` does, as a part of the transaction.
    ///
    /// - Returns: the number of rows stored.
    @discardableResult
    public func copyIn<Rows: AsyncSequence>(
        _ sql: String,
        rows: Rows,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Int64 where Rows.Element == [UInt8] {
        try await connection.copyIn(sql, rows: rows, session: session, isolation: isolation)
    }

    /// Copies one buffer of rows into a table with a `COPY … FROM STDIN` statement.
    ///
    /// - Returns: the number of rows stored.
    @discardableResult
    public func copyIn(_ sql: String, rows: [UInt8]) async throws -> Int64 {
        try await connection.copyIn(sql, rows: PostgresConnection.stream(of: rows), session: session)
    }
}

/// How a transaction sees other transactions.
public enum PostgresTransactionMode: Sendable, Hashable {
    /// Each statement sees what was committed before it; PostgreSQL's default.
    case readCommitted
    /// All statements see the snapshot of the first; a write conflict fails with SQLSTATE 40001.
    case repeatableRead
    /// All statements see one snapshot and nothing is written: for counts that must agree.
    case snapshot
    /// As if transactions ran one after the other; may fail with SQLSTATE 40001.
    case serializable

    var begin: String {
        switch self {
        case .readCommitted: "BEGIN"
        case .repeatableRead: "BEGIN ISOLATION LEVEL REPEATABLE READ"
        case .snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .serializable: "BEGIN ISOLATION LEVEL SERIALIZABLE"
        }
    }
}

extension PostgresConnection {
    /// Listens to a channel, until the connection ends or ``unlisten(_:)``.
    public func listen(_ channel: String) async throws {
        try await execute(PostgresStatement("LISTEN \(Self.quoted(channel))", prepare: false))
    }

    /// Stops listening to a channel.
    public func unlisten(_ channel: String) async throws {
        try await execute(PostgresStatement("UNLISTEN \(Self.quoted(channel))", prepare: false))
    }

    /// Waits for the next notification of any channel listened to; nil at the deadline.
    ///
    /// Notifications that came while nobody waited are kept (the newest 10,000) and returned first. Statements can run
    /// meanwhile, but a running transaction at the server holds notifications back.
    public func nextNotification(deadline: ContinuousClock.Instant) async throws -> PostgresNotification? {
        guard case .notification(let notification) = try await mailbox.perform(.notification(deadline: deadline)) else {
            return nil
        }
        return notification
    }

    /// An SQL identifier in quotes.
    static func quoted(_ identifier: String) -> String {
        "\"" + identifier.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

/// A NOTIFY that arrived on a channel the connection listens to.
public struct PostgresNotification: Sendable, Hashable {
    public let channel: String
    /// The payload, empty when there was none.
    public let payload: String
    /// The server process that notified; compare with ``PostgresConnection/backendPID`` to find one's own.
    public let senderPID: Int32
}
