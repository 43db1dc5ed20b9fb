import PostgresClient
import Synchronization

/// Reads the views of target mappings. Other systems own them, so their functions may do anything.
///
/// Queries run as ``role``, which has rights only on these views, inside a function that no setting and no `SET ROLE`
/// can escape (`pushmta_engine.read_view`). They run in a separate session with a time limit, in a read-only
/// transaction that is rolled back. Afterwards the session is reset, or closed if anything failed, so that no setting,
/// lock or prepared statement reaches the next caller. A function can catch the server's cancellation and go on. In
/// that case its session is terminated, which no function can catch.
final class ViewReader: Sendable {
    /// The role that reads the views; rights on views are granted to it.
    static let role = "pushmta_reader"

    /// The role that calls the functions of health signals; rights on them are granted to it.
    static let signalRole = "pushmta_signal"

    /// The time limit if neither the caller nor the configuration gives one.
    private static let longest = Duration.seconds(30)

    /// How long after the server's own limit a session is terminated.
    private static let grace = Duration.seconds(1)

    private struct Session {
        let connection: PostgresConnection
        /// The process id of the server's backend, read by a query because a pooler reports a number of its own, and
        /// the time of its start.
        let process: Int32
        let begin: String
    }

    private let configuration: PostgresConfiguration
    /// A reset session. If several were in use at once, only one is kept.
    private let idle = Mutex<Session?>(nil)

    init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    /// Reads lists of texts.
    ///
    /// - Parameters:
    ///   - query: returns one `text[]` per row; its $1 is the list of user keys.
    ///   - showsPlan: returns the lines of the query's plan instead, each as a list of one.
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

    /// The text that the function of a health signal returns; nil for null. It runs as ``signalRole``, with the same
    /// precautions as a view.
    func readSignal(_ source: String, timeout: Duration) async throws -> String? {
        let statement = PostgresStatement(
            "SELECT r FROM pushmta_engine.read_signal($1) r",
            [.text(source)],
            prepare: false
        )
        return try await read(statement, timeout: timeout).first?.first ?? nil
    }

    /// Runs a statement that calls `pushmta_engine.read_view` or `read_signal`, directly or through another
    /// `…read_view`; it returns one `text[]` per row.
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
            // The limit applies to the next statement; a setting changed while that runs has no effect on it.
            let milliseconds = max(1, Int(limit / .milliseconds(1)))
            try await transaction.execute(
                PostgresStatement("SET LOCAL statement_timeout = \(milliseconds)", prepare: false)
            )
            let rows = try await transaction.execute(statement)
            return try rows.all { row in try row.ifPresent(1) { try $0.textArrayWithNulls() } ?? [] }
        }
    }

    /// After the delay, terminates a session that is still running, from another session of the same user.
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
                // The server may have no free connection, or be unreachable.
                try? await Task.sleep(for: Self.grace)
            }
        }
    }

    /// A backend whose process id now belongs to another session is not touched.
    private static let terminateSQL = """
        SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
        WHERE a.pid = $1 AND a.backend_start = $2::timestamptz AND a.state = 'active'
            AND (a.query LIKE '%read_view(%' OR a.query LIKE '%read_signal(%')
        """

    /// Resets a session and keeps it, or closes it if that fails.
    private func renew(_ session: Session) async {
        do {
            try await session.connection.reset(configuration)
            try await session.connection.run(script: Store.sessionSettings)
            await keep(session)
        } catch {
            await session.connection.close()
        }
    }

    /// Closes the idle session. One that is in use is closed when it fails.
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

    /// It has SQLSTATE 57014, like the server's own limit.
    private static let tooLong = PostgresError(
        code: .sqlState("57014"),
        message: "a function of the view kept running after its time limit, so its session was terminated"
    )

    /// Classes of errors that a view's function can raise to look like the server or like our own functions: a lost
    /// connection, a failed write, or one of our own codes. From a view they mean only that this view cannot be read.
    private static let pretended = ["08", "25", "2F", "57P", "PM"]

    private static func foreign(_ error: PostgresError) -> PostgresError {
        guard case .sqlState(let state) = error.code, pretended.contains(where: { state.hasPrefix($0) })
        else { return error }
        return PostgresError(
            code: .sqlState("2F000"),
            message:
                "one of its functions raised error \(state), which may mean that it writes: views are read in read-only transactions"
        )
    }
}

/// Decides which comes first: the end of a read, or the termination of its session.
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

    /// Whether the session is still running. If so, it is marked as terminated and not used again.
    func mayTerminate() -> Bool {
        state.withLock { state in
            if !state.isOver { state.isTerminated = true }
            return !state.isOver
        }
    }
}
