// Store: every SQL statement of the product, behind functions in Swift.
//
// WHAT IT DOES
//   Gives the other modules the database as functions and values: parts, leases, outcomes, deliveries, targets, devices,
//   tracking, retention, status. No other module has SQL but Schema, whose version it checks and installs.
//
// HOW IT IS USED
//   All processes and commands use it. Store.connect(_:) makes one connection to check the schema, closes it and gives a
//   store; the initialiser checks nothing and connects at first use. migrate() brings a database to the schema of this
//   program. The functions are extensions of Store, a folder a topic. with(_:), query(_:_:), group(_:) and transaction(_:)
//   are the ways to the connection. listen() gives a WakeUpListener with a connection of its own.
//
// THREADS AND TASKS
//   A store is one connection (ReconnectingConnection), and so one thread; where views of target mappings are read, they have
//   another one (ViewReader). Calls of many tasks are pipelined in the order in
//   which they come: what must not wait for another needs a store of its own. A call without a connection waits until there
//   is one; cancel the task, or close the store, to give up.
//
// STATE AND FILES
//   None but the connection: a process that dies leaves what it has committed. Each session is set to generic plans, without
//   JIT, parallel workers and sequential scans, and takes on a role where one is given (the web process's). It looks names up in
//   pg_catalog alone (PostgresClient's SessionSettings): statements name the schema of everything else.
//
// FAILURES
//   StoreError is what the schema's functions refuse (SQLSTATE PM…) and what does not fit, with the way out in its words; all
//   else is PostgresError. Nothing is repeated: after a lost connection a call may have been committed, and functions that
//   say so are safe to repeat (storeOutcomes, storeFacts). Outcomes are fenced by the owner's token; where rows may exist
//   already, the conflict path inserts what is not there and counts that only. A schema that is older or newer than the
//   program's is refused, and migrate() changes nothing of a newer one.
//
// SETTINGS
//   None: its caller makes the PostgresConfiguration. Store.lockTimeoutMilliseconds is what processes with leases take for
//   locks.
//
// SEE ALSO
//   Parts/PartClaim.swift, Parts/Leases.swift, Outcomes/OutcomeStoring.swift, Preparation/PreparationChunk.swift,
//   Schema/Migrator.swift, StoreError.swift, Sources/Schema/schema.c, Sources/DESIGN.md (2, 3)

import PostgresClient
import PushCore

/// The product's database: every SQL statement stands behind a function of this type.
///
/// A store has one connection, made at first use and again whenever it was lost. Concurrent calls are pipelined in the
/// order in which they come. A call that fails with a lost connection may have been committed: functions that say so are
/// safe to repeat.
public final class Store: Sendable {
    let reconnecting: ReconnectingConnection
    package let configuration: PostgresConfiguration
    /// Reads views of other people.
    let views: ViewReader
    /// Told of its connection, and of that of its listener.
    let onEvent: @Sendable (ReconnectingConnectionEvent) -> Void

    /// How long a process that holds leases, or looks after them, waits for a lock. Renewals share its connection and wait behind
    /// whatever waits: somebody's open transaction, with the lock of one delivery, must not cost the leases of all. A lease lasts
    /// 15 s and is renewed every 5 s, so that two such waits fit in between; what has failed is done again.
    public static let lockTimeoutMilliseconds = 2_000

    /// The schema version that this program was made for.
    public static let schemaVersion: Int32 = SchemaVersion.all.last?.number ?? 0

    /// A store that connects at first use; it waits for the database as long as it takes.
    ///
    /// - Parameters:
    ///   - role: the database role that its sessions take on, if their user is a member of it: a process then has no more rights
    ///     than the role, whoever it connects as.
    ///   - onEvent: told of connections, losses and failed attempts; must not block.
    public init(
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
    public static func connect(
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

    /// Brings a database to this program's schema; any number of hosts may do it at once.
    ///
    /// Throws ``StoreError`` of code `schema`, and changes nothing, if the schema is newer.
    @discardableResult
    public static func migrate(_ configuration: PostgresConfiguration) async throws -> MigrationReport {
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

    /// Brings the database to this program's schema; any number of hosts may do it at once.
    @discardableResult
    public func migrate() async throws -> MigrationReport {
        try await Self.migrate(configuration)
    }

    /// Whether there is a connection now.
    public var isConnected: Bool { reconnecting.currentConnection != nil }

    /// Waits for a connection as long as it takes; cancel the task to give up.
    public func awaitConnection() async throws {
        _ = try await reconnecting.connection()
    }

    /// The number of connections made so far; when it has grown, the database was out of reach in between.
    public var connectionsMade: UInt64 { reconnecting.connectionsMade }

    /// Whether the database takes no writes: it is a standby that was not promoted, or was made read-only.
    public func isReadOnly() async throws -> Bool {
        try await query("SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean")
            .one { try $0.bool() }
    }

    /// Whether the database takes writes, found out by one: a record of WAL that touches no table, committed as everything else is.
    public func takesWrites() async throws -> Bool {
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
    public func checkSchema() async throws {
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
    public func close() async {
        await reconnecting.close()
        await views.close()
    }

    /// Asks the server to cancel the statement under way.
    public func cancel() {
        reconnecting.currentConnection?.cancel()
    }

    /// The statements are few, short and always the same: plan them once, without parallel workers, JIT and caches of
    /// look-ups that never repeat. A plan may be made while a table is nearly empty and serve when it has millions of rows,
    /// so sequential scans are out, and hot statements are written so that only the right index fits.
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
    /// Runs a closure with the connection; refusals of the schema's own functions become ``StoreError``.
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

    /// Reads the first row of an answer, or throws `notFound` with these words.
    package func first<T>(
        _ result: PostgresResult,
        orThrow message: @autoclosure () -> String,
        hint: String? = nil,
        _ read: (inout RowReader) throws -> T
    ) throws -> T {
        guard result.rowCount > 0 else { throw StoreError(.notFound, message(), hint: hint) }
        return try result.one(read)
    }

    /// Reads all rows of an answer.
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
