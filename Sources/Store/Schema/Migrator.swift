import Content
import PostgresClient
import PushCore

/// What a migration did.
public struct MigrationReport: Sendable {
    /// Schema version found, 0 if there was none.
    public let from: Int32
    /// Schema version now.
    public let to: Int32
    /// Names of the files applied, in order; empty if there was nothing to do.
    public let applied: [String]
    /// Rights that roles had not and have now, as the statements that gave them.
    public let granted: [String]
}

/// Brings a database to the schema of this program; any number of hosts may do it at once.
struct Migrator {
    let connection: PostgresConnection

    /// Migrations of one database wait for each other by this advisory lock; the number is arbitrary and ours.
    private static let lockKey: Int64 = 5_786_284_502_001

    /// Days for which partitions are made ahead.
    static let daysAhead = 7

    func migrate(_ versions: [SchemaVersion] = SchemaVersion.all) async throws -> MigrationReport {
        try await connection.execute(
            PostgresStatement("SELECT pg_advisory_lock($1)", [.int64(Self.lockKey)], prepare: false)
        )
        do {
            let report = try await migrateLocked(versions)
            try await connection.execute(
                PostgresStatement("SELECT pg_advisory_unlock($1)", [.int64(Self.lockKey)], prepare: false)
            )
            return report
        } catch {
            // The lock must not outlive the attempt; a lost connection has freed it already.
            _ = try? await connection.execute(
                PostgresStatement("SELECT pg_advisory_unlock($1)", [.int64(Self.lockKey)], prepare: false)
            )
            throw error
        }
    }

    private func migrateLocked(_ versions: [SchemaVersion]) async throws -> MigrationReport {
        // Compiling the query of the rights takes 0.5 s, running it 20 ms.
        try await connection.run(script: "SET jit = off")
        let installed = try await InstalledSchema.read(connection)
        try installed.check(known: versions)
        try await makeRoles(isNew: installed == .none)
        var applied: [String] = []
        for version in versions where version.number > installed.number {
            let files = version.files.map(\.text) + [Self.record(version)]
            // One message to the server, and so one transaction.
            try await connection.run(script: files.joined(separator: "\n;\n"))
            applied += version.files.map(\.name)
        }
        try await connection.execute(
            PostgresStatement(Self.partitions, [.int32(Int32(Self.daysAhead))], prepare: false)
        )
        try await connection.execute(
            PostgresStatement(
                Self.inputRules,
                [.text(ContentSchema.json), .text(TargetFilter.rules)],
                prepare: false
            )
        )
        let grants = try await SchemaRoles.missingRights(connection)
        // In one transaction: a new database lacks hundreds.
        if !grants.isEmpty { try await connection.run(script: grants.joined(separator: ";\n")) }
        return MigrationReport(
            from: installed.number,
            to: versions.last?.number ?? 0,
            applied: applied,
            granted: grants
        )
    }

    /// Makes the roles that the cluster has not yet, before anything else: rights are given to them.
    private func makeRoles(isNew: Bool) async throws {
        let rights = try await connection.execute(
            PostgresStatement(
                """
                SELECT r.rolcreaterole OR r.rolsuper, $1 AND NOT has_database_privilege(current_database(), 'CREATE'),
                    quote_ident(current_user), quote_ident(current_database())
                FROM pg_roles r WHERE r.rolname = current_user
                """,
                [.bool(isNew)],
                prepare: false
            )
        )
        let missing = try await SchemaRoles.missing(connection)
        let mayMakeRoles = try rights.bool(0, 0)
        let lacksDatabase = try rights.bool(0, 1)
        let user = try rights.text(0, 2)
        guard mayMakeRoles || missing.isEmpty, !lacksDatabase else {
            var statements = mayMakeRoles ? [] : missing.map(SchemaRoles.creation)
            if lacksDatabase { statements.append("GRANT CREATE ON DATABASE \(try rights.text(0, 3)) TO \(user);") }
            throw StoreError.rolesMissing(user: user, statements: statements)
        }
        // Roles belong to the cluster: who migrates another database of it may be making them, too.
        for role in missing {
            try await connection.run(
                script: """
                    DO $$ BEGIN \(SchemaRoles.creation(of: role))
                    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
                    """
            )
        }
    }

    /// A day back too: a delivery that was started before midnight is prepared after it.
    static let partitions = """
        SELECT pushmta_engine.ensure_partitions(
            (now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + $1)
        """

    /// The rules of this program for the checks of contents and filters in the database.
    private static let inputRules = """
        INSERT INTO pushmta_engine.input_rule AS r (name, document) VALUES ('content', $1::jsonb), ('filter', $2::jsonb)
        ON CONFLICT (name) DO UPDATE SET document = excluded.document, changed_at = now()
        WHERE r.document IS DISTINCT FROM excluded.document
        """

    /// The names of files are the program's own, without quotes.
    private static func record(_ version: SchemaVersion) -> String {
        let rows = version.files.map { "(\(version.number), '\($0.name)', '\($0.checksum)')" }
        return "INSERT INTO pushmta_engine.schema_version (version, file, checksum) VALUES "
            + rows.joined(separator: ", ") + ";"
    }
}
