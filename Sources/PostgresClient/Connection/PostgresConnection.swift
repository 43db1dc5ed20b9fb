// PostgresClient: asynchronous access to PostgreSQL through libpq.
//
// WHAT IT DOES
//   Connections with pipelined statements, transactions, COPY in both directions, scripts, notifications and
//   cancellation. A connection that reconnects when it is lost. Parameters and results in binary format.
//
// HOW IT IS USED
//   Store uses it for all statements, and tests for their own; other modules import only its configuration and errors.
//   PostgresConnection.connect(_:) takes a PostgresConfiguration. execute(_:) runs one statement, or a group that is
//   all or nothing. There are also transaction(_:_:), copyIn, copyOut, run(script:), listen(_:) and
//   nextNotification(deadline:). ReconnectingConnection keeps one such connection and prepares each new one before
//   callers get it. PostgresResult reads values by row and column; PostgresValue is a parameter.
//
// THREADS AND TASKS
//   Each connection has its own thread (ConnectionLoop), which waits in poll for its socket and its callers, never
//   inside libpq. A cancel request briefly uses one more. A Mailbox connects the callers and the thread. Groups of
//   concurrent callers are sent as they come, each with its own sync, at most 64 at once. A transaction or a COPY has
//   the connection to itself: awaiting the connection inside one deadlocks.
//
// STATE AND FILES
//   Each connection caches 200 prepared statements and keeps up to 10,000 notifications that no caller has taken. The
//   only files are libpq's (service and password files, certificates).
//
// FAILURES
//   PostgresError has a code, the SQLSTATE and a message without the statement's values. A lost connection fails every
//   waiting caller with isConnectionLost true. No statement is repeated, and the outcome of a COMMIT in progress is
//   unknown. ReconnectingConnection reconnects with jitter, at most 4 s between failed attempts, and leaves a server
//   that cannot write. connect(_:) refuses a pooler in transaction mode, servers before version 15 and encodings other
//   than UTF8. Cancelling a task cancels its statement at the server. Session settings let a server detect a lost
//   client within about 15 s, and give statements the same meaning everywhere (SessionSettings): names are looked up
//   only in pg_catalog. Passwords are never printed.
//
// SETTINGS
//   None of its own: callers pass a PostgresConfiguration, made from database.url and database.statementTimeoutSec.
//
// SEE ALSO
//   Connection/ReconnectingConnection.swift, Connection/SessionSettings.swift, Connection/PoolerCheck.swift,
//   Loop/ConnectionLoop.swift, Loop/Mailbox.swift, Loop/StatementCache.swift, Values/PostgresResult.swift,
//   Values/ParameterEncoder.swift

/// A connection to PostgreSQL through libpq, served by its own thread; callers only await.
///
/// Groups of concurrent callers are pipelined: they are sent in order as they come, each as an implicit transaction of
/// its own. Transactions, COPY and scripts have the connection to themselves. When the connection is lost, every
/// waiting caller gets an error that says so; the connection does not reconnect (see ``ReconnectingConnection``).
/// Releasing the last reference closes it.
package final class PostgresConnection: Sendable {
    let mailbox: Mailbox
    /// The server process of this connection, as in `pg_stat_activity`; with a pooler, a number that the pooler made
    /// up.
    package let backendPID: Int32
    /// The server's version as a number, for example 150018 for 15.18.
    package let serverVersion: Int32

    private init(mailbox: Mailbox, backendPID: Int32, serverVersion: Int32) {
        self.mailbox = mailbox
        self.backendPID = backendPID
        self.serverVersion = serverVersion
    }

    deinit { mailbox.requestClose() }

    /// Connects.
    ///
    /// Throws ``PostgresError/Code/connection`` if no server could be reached or it refused. Throws
    /// ``PostgresError/Code/pooler`` if a pooler gives the connection no session of its own. Throws
    /// ``PostgresError/Code/server`` if the server is too old or its encoding is not UTF-8.
    package static func connect(_ configuration: PostgresConfiguration) async throws -> PostgresConnection {
        let connection = try await open(configuration)
        do {
            // This comes first: the settings must not reach a session that is about to serve another client.
            try await connection.checkSession(configuration)
            try await connection.begin(configuration)
        } catch {
            await connection.close()
            throw error
        }
        return connection
    }

    /// Connects without any check or setting of the session.
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

    /// Resets the session: settings, locks, prepared statements, temporary objects and LISTEN channels.
    package func reset(_ configuration: PostgresConfiguration) async throws {
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
                // The server's platform lacks such a setting; it is optional.
            }
        }
    }

    /// Whether requests are accepted; false once it is closed or known to be lost.
    package var isOpen: Bool { mailbox.isOpen }

    /// Whether the server has refused a statement because it cannot write (SQLSTATE 25006).
    package var isReadOnlyServer: Bool { mailbox.isReadOnly }

    /// Runs one statement in a transaction of its own.
    ///
    /// Cancelling the task cancels the statement at the server and throws `CancellationError`; the statement may have
    /// been committed just before.
    @discardableResult
    package func execute(_ statement: PostgresStatement) async throws -> PostgresResult {
        try await execute([statement], session: nil)[0]
    }

    /// Runs statements in order as one implicit transaction, in one round trip.
    ///
    /// If one fails, none has an effect, and the error names it. The group must not contain BEGIN, COMMIT or COPY.
    @discardableResult
    package func execute(_ group: [PostgresStatement]) async throws -> [PostgresResult] {
        try await execute(group, session: nil)
    }

    /// Runs several statements without parameters in the simple protocol, for migrations. They are one implicit
    /// transaction unless the script contains BEGIN and COMMIT.
    package func run(script: String) async throws {
        _ = try await mailbox.perform(.script(script))
    }

    /// Asks the server to cancel the running statement of this connection, which then fails with SQLSTATE 57014.
    package func cancel() { mailbox.requestCancelOfRunning() }

    /// Closes the connection; waiting requests fail with ``PostgresError/Code/closed``.
    package func close() async { await mailbox.closeAndWait() }

    func execute(_ group: [PostgresStatement], session: UInt64?) async throws -> [PostgresResult] {
        guard !group.isEmpty else { return [] }
        try ParameterEncoder.check(group)
        return try await mailbox.perform(.group(group), session: session).results(group.count)
    }
}

extension PostgresConnection {
    /// Runs the closure in a transaction that has the connection to itself: COMMIT if it returns, ROLLBACK if it
    /// throws.
    ///
    /// If the closure swallowed an error, the server turns COMMIT into a rollback; that throws SQLSTATE 25P02. If the
    /// connection is lost during COMMIT, the outcome is unknown and the error's `isConnectionLost` is true. Inside the
    /// closure use only the transaction: awaiting the connection itself deadlocks.
    package func transaction<T: Sendable>(
        _ mode: PostgresTransactionMode = .readCommitted,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        try await transaction(mode, first: []) { transaction, _ in try await body(transaction) }
    }

    /// As above, with statements that are sent together with BEGIN in one round trip; the closure gets their results.
    package func transaction<T: Sendable>(
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
            // The first error is the one to report. A lost connection rolls back on its own.
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
    /// Runs the closure in a read-only transaction that sees one snapshot and is always rolled back at its end.
    ///
    /// So foreign functions that run in it leave nothing behind: no setting, no notification, no deferred trigger.
    /// Session locks and prepared statements do outlive it, see ``reset(_:)``.
    package func readOnly<T: Sendable>(
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

extension PostgresConnection {
    /// Listens on a channel until the connection ends.
    package func listen(_ channel: String) async throws {
        try await execute(PostgresStatement("LISTEN \(Self.quoted(channel))", prepare: false))
    }

    /// Waits for the next notification on any channel; nil at the deadline.
    ///
    /// Notifications that came while no caller waited are kept (the newest 10,000) and returned first. Statements can
    /// run meanwhile, but during a transaction the server holds notifications back.
    package func nextNotification(deadline: ContinuousClock.Instant) async throws -> PostgresNotification? {
        guard case .notification(let notification) = try await mailbox.perform(.notification(deadline: deadline)) else {
            return nil
        }
        return notification
    }

    /// A quoted SQL identifier.
    static func quoted(_ identifier: String) -> String {
        "\"" + identifier.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
