import PostgresClient
import Synchronization

/// Reads views of target mappings, which are of other people's making: functions in them do what their owners like.
///
/// They run as ``role``, which has no right but on these views, inside a function that no setting and no `SET ROLE` leads out of
/// (`pushmta_engine.read_view`). They have a session of their own with a time limit, and a read-only transaction that is rolled back.
/// Afterwards the session is reset, and closed where anything failed: no setting, lock or prepared statement reaches the next caller.
/// A function can catch the server's cancellation and go on; then its session is terminated, which no function can catch.
final class ViewReader: Sendable {
    /// The role that reads, to which the rights on views are granted.
    static let role = "pushmta_reader"

    /// The limit where the caller gives none.
    private static let longest = Duration.seconds(30)

    /// How long the server's own limit is waited for before a session is terminated.
    private static let grace = Duration.seconds(1)

    private struct Session {
        let connection: PostgresConnection
        /// The server's process, with the time of its start; a pooler greets with a number of its own.
        let process: Int32
        let begin: String
    }

    private let configuration: PostgresConfiguration
    /// A session that is as new; of several that were used at once one is kept.
    private let idle = Mutex<Session?>(nil)

    init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    /// Reads lists of texts.
    ///
    /// - Parameters:
    ///   - query: gives a `text[]` a row; its $1 is the list of user keys.
    ///   - showsPlan: gives the lines of its plan in their place, each as a list of one.
    func read(_ query: String, userKeys: [String], timeout: Duration?, showsPlan: Bool = false)
        async throws -> [[String?]]
    {
        try await read(
            PostgresStatement(
                "SELECT r FROM pushmta_engine.read_view($1, $2, $3) r",
                [.text(query), .textArray(userKeys), .bool(showsPlan)],
                prepare: false
            ),
            timeout: timeout
        )
    }

    /// Runs a statement that reads by `pushmta_engine.read_view`, itself or in another `…read_view`; a `text[]` a row.
    func read(_ statement: PostgresStatement, timeout: Duration?) async throws -> [[String?]] {
        let limit = timeout ?? configuration.statementTimeoutMilliseconds.map { .milliseconds($0) } ?? Self.longest
        let session = try await take()
        let lists: Result<[[String?]], any Error>
        let end = SessionEnd()
        let watch = Task { await terminate(session, after: limit + Self.grace, end) }
        do {
            lists = .success(
                try await withTaskCancellationHandler {
                    try await read(statement, limit, session.connection)
                } onCancel: {
                    Task { await terminate(session, after: Self.grace, end) }
                }
            )
        } catch {
            lists = .failure((error as? PostgresError).map(Self.foreign) ?? error)
        }
        watch.cancel()
        guard end.finish() else {
            await session.connection.close()
            return try lists.mapError { $0 is CancellationError ? $0 : Self.tooLong }.get()
        }
        await renew(session)
        return try lists.get()
    }

    private func read(_ statement: PostgresStatement, _ limit: Duration, _ connection: PostgresConnection)
        async throws -> [[String?]]
    {
        try await connection.readOnly { transaction in
            // The statement that follows has this limit, whatever is set while it runs.
            let milliseconds = max(1, Int(limit / .milliseconds(1)))
            try await transaction.execute(
                PostgresStatement("SET LOCAL statement_timeout = \(milliseconds)", prepare: false)
            )
            let rows = try await transaction.execute(statement)
            return try rows.all { row in try row.ifPresent(1) { try $0.textArrayWithNulls() } ?? [] }
        }
    }

    /// Terminates a session that is still at work so much later, by another session of the same user.
    private func terminate(_ session: Session, after delay: Duration, _ end: SessionEnd) async {
        try? await Task.sleep(for: delay)
        while !Task.isCancelled, !end.isOver {
            do {
                let other = try await PostgresConnection.connect(configuration)
                defer { Task { await other.close() } }
                guard end.mayTerminate() else { return }
                let parameters: [PostgresValue] = [.int32(session.process), .text(session.begin)]
                _ = try await other.execute(PostgresStatement(Self.terminateSQL, parameters, prepare: false))
                return
            } catch {
                // The server may be full, or away.
                try? await Task.sleep(for: Self.grace)
            }
        }
    }

    /// A process, or a number, that has passed to another session is left alone.
    private static let terminateSQL = """
        SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
        WHERE a.pid = $1 AND a.backend_start = $2::timestamptz AND a.state = 'active'
            AND a.query LIKE '%read_view(%'
        """

    /// Makes a session as new and keeps it, or closes it.
    private func renew(_ session: Session) async {
        do {
            try await session.connection.reset(configuration)
            try await session.connection.run(script: Store.sessionSettings)
            await keep(session)
        } catch {
            await session.connection.close()
        }
    }

    /// Closes its session; one that is at work closes by itself.
    func close() async {
        let session = idle.withLock { session in
            defer { session = nil }
            return session
        }
        await session?.connection.close()
    }

    private func take() async throws -> Session {
        let known = idle.withLock { session in
            defer { session = nil }
            return session
        }
        if let known, known.connection.isOpen { return known }
        let connection = try await PostgresConnection.connect(configuration)
        do {
            try await connection.run(script: Store.sessionSettings)
            let process = try await connection.execute(
                PostgresStatement(
                    "SELECT a.pid, a.backend_start::text FROM pg_stat_activity a WHERE a.pid = pg_backend_pid()",
                    prepare: false
                )
            )
            return try process.one { row in
                Session(connection: connection, process: try row.int32(), begin: try row.text())
            }
        } catch {
            await connection.close()
            throw error
        }
    }

    private func keep(_ session: Session) async {
        let spare = idle.withLock { kept -> Session? in
            if kept != nil { return session }
            kept = session
            return nil
        }
        await spare?.connection.close()
    }

    /// Of SQLSTATE 57014, as the server's own limit.
    private static let tooLong = PostgresError(
        code: .sqlState("57014"),
        message: "a function of the view went on after its time limit, so its session was terminated"
    )

    /// What a function can say as well as the server: that the connection is lost, that it cannot write, or what only our own functions
    /// say. Of a view it means that this view cannot be read.
    private static let pretended = ["08", "25", "2F", "57P", "PM"]

    private static func foreign(_ error: PostgresError) -> PostgresError {
        guard case .sqlState(let state) = error.code, pretended.contains(where: { state.hasPrefix($0) })
        else { return error }
        return PostgresError(
            code: .sqlState("2F000"),
            message:
                "one of its functions raised error \(state), as one that writes does: views are read in read-only transactions"
        )
    }
}

/// Who comes first: the end of a reading, or of its session.
private final class SessionEnd: Sendable {
    private let state = Mutex((isOver: false, isTerminated: false))

    var isOver: Bool { state.withLock { $0.isOver } }

    /// - Returns: whether the session may be used again.
    func finish() -> Bool {
        state.withLock { state in
            state.isOver = true
            return !state.isTerminated
        }
    }

    /// Whether the session, which is then used no more, is still at work.
    func mayTerminate() -> Bool {
        state.withLock { state in
            if !state.isOver { state.isTerminated = true }
            return !state.isOver
        }
    }
}
