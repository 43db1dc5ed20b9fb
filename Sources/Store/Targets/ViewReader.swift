import PostgresClient
import Synchronization

/// Reads views of target mappings, which are of other people's making: functions in them do what their owners like.
///
/// They run as ``role``, which has no right but on these views, inside a function that no setting and no `SET ROLE` leads out of
/// (`pushmta_engine.read_view`). They have a session of their own with a time limit, and a read-only transaction that is rolled back.
/// Afterwards the session is reset, and closed where anything failed: no setting, lock or prepared statement reaches the next caller.
final class ViewReader: Sendable {
    /// The role that reads, to which the rights on views are granted.
    static let role = "pushmta_reader"

    /// The limit where the caller gives none.
    private static let longest = 30_000

    private let configuration: PostgresConfiguration
    /// A session that is as new; of several that were used at once one is kept.
    private let idle = Mutex<PostgresConnection?>(nil)

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
        let connection = try await take()
        let lists: Result<[[String?]], any Error>
        do {
            lists = .success(try await read(query, userKeys, timeout, showsPlan, connection))
        } catch {
            lists = .failure((error as? PostgresError).map(Self.foreign) ?? error)
        }
        await renew(connection)
        return try lists.get()
    }

    private func read(
        _ query: String,
        _ userKeys: [String],
        _ timeout: Duration?,
        _ showsPlan: Bool,
        _ connection: PostgresConnection
    ) async throws -> [[String?]] {
        try await connection.readOnly { transaction in
            try await transaction.execute(Self.limit(timeout, configuration))
            let rows = try await transaction.execute(
                PostgresStatement(
                    "SELECT r FROM pushmta_engine.read_view($1, $2, $3) r",
                    [.text(query), .textArray(userKeys), .bool(showsPlan)],
                    prepare: false
                )
            )
            return try (0..<rows.rowCount).map { try rows.isNull($0, 0) ? [] : rows.textArray($0, 0) }
        }
    }

    /// Makes a session as new and keeps it, or closes it.
    private func renew(_ connection: PostgresConnection) async {
        do {
            try await connection.reset(configuration)
            try await connection.run(script: Store.sessionSettings)
            await keep(connection)
        } catch {
            await connection.close()
        }
    }

    /// Closes its session; one that is at work closes by itself.
    func close() async {
        let connection = idle.withLock { connection in
            defer { connection = nil }
            return connection
        }
        await connection?.close()
    }

    private func take() async throws -> PostgresConnection {
        let known = idle.withLock { connection in
            defer { connection = nil }
            return connection
        }
        if let known, known.isOpen { return known }
        let connection = try await PostgresConnection.connect(configuration)
        do {
            try await connection.run(script: Store.sessionSettings)
            return connection
        } catch {
            await connection.close()
            throw error
        }
    }

    private func keep(_ connection: PostgresConnection) async {
        let spare = idle.withLock { kept -> PostgresConnection? in
            if kept != nil { return connection }
            kept = connection
            return nil
        }
        await spare?.close()
    }

    /// The statement that follows has this limit, whatever is set while it runs.
    private static func limit(_ timeout: Duration?, _ configuration: PostgresConfiguration)
        -> PostgresStatement
    {
        let limit =
            timeout.map { Int($0 / .milliseconds(1)) } ?? configuration.statementTimeoutMilliseconds
            ?? longest
        return PostgresStatement("SET LOCAL statement_timeout = \(max(1, limit))", prepare: false)
    }

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
