// Store: every SQL statement of the product, behind functions in Swift.
//
// WHAT IT DOES
//   Offers the database to the other modules as functions and values: parts, leases, outcomes, deliveries, targets,
//   devices, tracking, retention, status. Apart from Schema, whose version it checks and installs, no other module has
//   SQL.
//
// HOW IT IS USED
//   All processes and commands use it. Store.connect(_:) opens a connection to check the schema, closes it and returns
//   a store. The initialiser checks nothing; its store connects at first use. migrate() upgrades a database to the
//   schema of this program. The functions are extensions of Store, one folder for each topic. with(_:), query(_:_:),
//   group(_:) and transaction(_:) give access to the connection. listen() returns a WakeUpListener with its own
//   connection.
//
// THREADS AND TASKS
//   A store is one connection (ReconnectingConnection), and so one thread. Views of target mappings are read over
//   another one (ViewReader). Calls of many tasks are pipelined in order: a call that must not wait for others needs
//   its own store. A call without a connection waits until there is one; cancel the task, or close the store, to give
//   up.
//
// STATE AND FILES
//   Only the connection: a process that dies leaves what it has committed. Each session uses generic plans, without
//   JIT, parallel workers and sequential scans; only counts of targets use parallel workers. It assumes a role if one
//   is given (for the web process). It looks up names only in pg_catalog (PostgresClient's SessionSettings): statements
//   name the schema of everything else.
//
// FAILURES
//   StoreError is a refusal by the schema's functions (SQLSTATE PM…) or by the store itself; its text has the remedy.
//   All other errors are PostgresError. Nothing is retried: after a lost connection a call may have been committed.
//   Functions that say so are safe to repeat (storeOutcomes, storeFacts). Outcomes are fenced by the owner's token. If
//   rows may exist already, the conflict path inserts only missing rows, and counts only those. A schema older or newer
//   than the program's is refused, and migrate() changes nothing in a newer one.
//
// SETTINGS
//   None: its caller makes the PostgresConfiguration. Store.lockTimeoutMilliseconds is the lock timeout of processes
//   with leases.
//
// SEE ALSO
//   Parts/PartClaim.swift, Parts/Leases.swift, Outcomes/OutcomeStoring.swift, Preparation/PreparationChunk.swift,
//   Schema/Migrator.swift, StoreError.swift, Sources/Schema/schema.c, Sources/DESIGN.md (2, 3)

import PostgresClient
import PushCore
import Synchronization

/// The product's database: every SQL statement is behind a function of this type.
///
/// A store has one connection, which is opened at first use and again after each loss. Concurrent calls are pipelined
/// in order. A call that fails with a lost connection may have been committed: functions that say so are safe to
/// repeat.
package final class Store: Sendable {
    let reconnecting: ReconnectingConnection
    package let configuration: PostgresConfiguration
    /// Reads views that others wrote.
    let views: ViewReader
    /// Called for events of its connection, and of its listener's.
    let onEvent: @Sendable (ReconnectingConnectionEvent) -> Void
    /// Which events consumers wanted when this store last looked; nil before its first look.
    let wantedEvents = Mutex<WantedEvents?>(nil)

    /// How long a process that holds leases, or maintains them, waits for a lock. Renewals share its connection and
    /// wait after such a wait: another session's open transaction, with the lock of one delivery, must not cost the
    /// leases of all. A lease lasts 15 s and is renewed every 5 s, so two such waits fit in between; what has failed is
    /// retried.
    package static let lockTimeoutMilliseconds = 2_000

    /// The schema version that this program was built for.
    package static let schemaVersion: Int32 = SchemaVersion.all.last?.number ?? 0

    /// A store that connects at first use; it waits for the database without a limit.
    ///
    /// - Parameters:
    ///   - role: the database role that its sessions assume, if their user is a member of it. The process then has no
    ///     more rights than the role, whatever its user.
    ///   - onEvent: called for connections, losses and failed attempts; must not block.
    package init(
        configuration: PostgresConfiguration,
        role: String? = nil,
        onEvent: @escaping @Sendable (ReconnectingConnectionEvent) -> Void = { _ in }
    ) {
        self.configuration = configuration
        self.onEvent = onEvent
        views = ViewReader(configuration)
        reconnecting = ReconnectingConnection(
            configuration,
            prepare: { try await Self.prepareSession($0, role: role) },
            onEvent: onEvent
        )
    }

    /// Connects and checks that the schema fits this program.
    ///
    /// Throws ``StoreError`` of code `schema` if it does not, `PostgresError` if the database cannot be reached.
    package static func connect(
        _ configuration: PostgresConfiguration,
        role: String? = nil,
        onEvent: @escaping @Sendable (ReconnectingConnectionEvent) -> Void = { _ in }
    ) async throws -> Store {
        let probe = try await PostgresConnection.connect(configuration)
        do {
            try await checkSchema(probe)
        } catch {
            await probe.close()
            throw error
        }
        await probe.close()
        return Store(configuration: configuration, role: role, onEvent: onEvent)
    }

    /// Upgrades a database to this program's schema; any number of hosts may do it at once.
    ///
    /// Throws ``StoreError`` of code `schema`, and changes nothing, if the schema is newer.
    @discardableResult
    package static func migrate(_ configuration: PostgresConfiguration) async throws -> MigrationReport {
        let connection = try await PostgresConnection.connect(configuration)
        do {
            let report = try await Migrator(connection: connection).migrate()
            await connection.close()
            return report
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Upgrades the database to this program's schema; any number of hosts may do it at once.
    @discardableResult
    package func migrate() async throws -> MigrationReport {
        try await Self.migrate(configuration)
    }

    /// Whether there is a connection now.
    package var isConnected: Bool { reconnecting.currentConnection != nil }

    /// Waits for a connection without a limit; cancel the task to give up.
    package func awaitConnection() async throws {
        _ = try await reconnecting.connection()
    }

    /// The number of connections made so far; if it has grown, the database was unreachable in between.
    package var connectionsMade: UInt64 { reconnecting.connectionsMade }

    /// Whether the database accepts no writes: it is a standby that was not promoted, or it was made read-only.
    package func isReadOnly() async throws -> Bool {
        try await query("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean")
            .one { try $0.bool() }
    }

    /// Whether the database accepts writes. Tests it with a WAL record that touches no table, committed like everything
    /// else.
    package func takesWrites() async throws -> Bool {
        try await query(
            """
            SELECT NOT current_setting('transaction_read_only')::boolean
                AND pg_logical_emit_message(true, 'pushmta', ''::text) IS NOT NULL
            """
        ).one { try $0.bool() }
    }

    /// Checks that the schema of the database is that of this program.
    ///
    /// Throws ``StoreError`` of code `schema` if it is not.
    package func checkSchema() async throws {
        try await with { try await Self.checkSchema($0) }
    }

    private static func checkSchema(_ connection: PostgresConnection) async throws {
        let installed = try await InstalledSchema.read(connection)
        try installed.check(known: SchemaVersion.all)
        guard installed.number == schemaVersion else {
            throw StoreError.olderSchema(installed.number, program: schemaVersion)
        }
    }

    /// Closes the connection; calls under way fail.
    package func close() async {
        await reconnecting.close()
        await views.close()
    }

    /// Asks the server to cancel the statement under way.
    package func cancel() {
        reconnecting.currentConnection?.cancel()
    }

    /// The statements are few, short and always the same. They are planned once, without parallel workers, JIT and
    /// caches of look-ups that never repeat. A plan may be made while a table is nearly empty and used when it has
    /// millions of rows. So sequential scans are disabled, and hot statements are written so that only the right index
    /// fits.
    static let sessionSettings = """
        SET jit = off; SET enable_memoize = off; SET max_parallel_workers_per_gather = 0; SET enable_seqscan = off;
        SET plan_cache_mode = force_generic_plan;
        """

    private static func prepareSession(_ connection: PostgresConnection, role: String?) async throws {
        try await connection.run(script: sessionSettings)
        guard let role else { return }
        try await connection.execute(PostgresStatement(takeRoleSQL, [.text(role)], prepare: false))
    }

    private static let takeRoleSQL = """
        SELECT set_config('role', r.rolname, false) FROM pg_roles r WHERE r.rolname = $1 AND pg_has_role(r.oid, 'MEMBER')
        """
}

extension Store {
    /// Runs a closure with the connection; errors of the schema's own functions become ``StoreError``.
    package func with<T: Sendable>(_ body: (PostgresConnection) async throws -> T) async throws -> T {
        do {
            return try await reconnecting.withConnection(body)
        } catch let error as PostgresError {
            if let refusal = StoreError(error) { throw refusal }
            throw error
        }
    }

    /// Runs one statement in a transaction of its own.
    @discardableResult
    package func query(_ sql: String, _ parameters: [PostgresValue] = []) async throws -> PostgresResult {
        try await with { try await $0.execute(PostgresStatement(sql, parameters)) }
    }

    /// Runs statements as one transaction in one round trip.
    @discardableResult
    func group(_ statements: [PostgresStatement]) async throws -> [PostgresResult] {
        try await with { try await $0.execute(statements) }
    }

    /// Runs a transaction with the connection to itself.
    package func transaction<T: Sendable>(_ body: (PostgresTransaction) async throws -> T) async throws -> T {
        try await with { try await $0.transaction(.readCommitted, body) }
    }

    /// Runs a transaction that begins with these statements, in one round trip.
    package func transaction<T: Sendable>(
        first statements: [PostgresStatement],
        _ body: (PostgresTransaction, [PostgresResult]) async throws -> T
    ) async throws -> T {
        try await with { try await $0.transaction(.readCommitted, first: statements, body) }
    }

    /// Reads the first row of a result, or throws `notFound` with this message.
    package func first<T>(
        _ result: PostgresResult,
        orThrow message: @autoclosure () -> String,
        hint: String? = nil,
        _ read: (inout RowReader) throws -> T
    ) throws -> T {
        guard result.rowCount > 0 else { throw StoreError(.notFound, message(), hint: hint) }
        return try result.one(read)
    }

    /// Reads all rows of a result.
    package func all<T>(_ result: PostgresResult, _ read: (inout RowReader) throws -> T) throws -> [T] {
        try result.all(read)
    }

    /// Reads a column whose text is a case of an enumeration.
    static func choice<T: RawRepresentable<String>>(_ result: PostgresResult, _ row: Int, _ column: Int) throws -> T {
        let text = try result.text(row, column)
        guard let value = T(rawValue: text) else {
            throw StoreError(.unexpectedAnswer, "The database says \"\(text)\" where a \(T.self) belongs.")
        }
        return value
    }
}

extension PostgresResult {
    /// A moment, nil for NULL.
    func timeOrNil(_ row: Int, _ column: Int) throws -> DatabaseTime? {
        try timestampOrNil(row, column).map(DatabaseTime.init(microsecondsSince2000:))
    }

    func time(_ row: Int, _ column: Int) throws -> DatabaseTime {
        DatabaseTime(microsecondsSince2000: try timestamp(row, column))
    }
}
