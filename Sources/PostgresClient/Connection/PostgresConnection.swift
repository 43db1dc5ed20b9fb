/// A connection to PostgreSQL, made with libpq and served by a thread of its own; callers only await.
///
/// Groups of concurrent callers are pipelined: they are sent as they come, in order, each as one implicit transaction
/// that stands or falls by itself. Transactions, COPY and scripts have the connection to themselves while they last.
/// When the connection is lost everybody who waits gets an error that says so; it does not come back by itself (see
/// ``ConnectionKeeper``). Dropping the last reference closes it.
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
    /// ``PostgresError/Code/pooler`` when what is there gives the connection no session of its own.
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
        return PostgresConnection(
            mailbox: mailbox,
            backendPID: greeting.backendPID,
            serverVersion: greeting.serverVersion
        )
    }

    /// Sets up the session.
    private func begin(_ configuration: PostgresConfiguration) async throws {
        let groups = SessionSettings.groups(configuration, serverVersion: serverVersion)
        for (position, group) in groups.enumerated() {
            do {
                try await execute(group)
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
        guard case .results(let results) = try await mailbox.perform(.group(group), session: session),
            results.count == group.count
        else { throw PostgresError(code: .connection, message: "the server's answers do not match the statements") }
        return results
    }
}
