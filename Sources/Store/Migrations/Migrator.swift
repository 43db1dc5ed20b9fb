import PostgresClient
import PushCore

/// Brings a database to the schema of this program; any number of hosts may do it at once.
struct Migrator {
    let connection: PostgresConnection

    /// Migrations of one database wait for each other by this advisory lock; the number is arbitrary and ours.
    private static let lockKey: Int64 = 5_786_284_502_001

    /// Days for which partitions are made ahead.
    static let daysAhead = 7

    func migrate(_ steps: [Migration] = Migration.all) async throws -> MigrationReport {
        try await connection.execute(
            PostgresStatement("SELECT pg_advisory_lock($1)", [.int64(Self.lockKey)], prepare: false)
        )
        do {
            let report = try await migrateLocked(steps)
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

    private func migrateLocked(_ steps: [Migration]) async throws -> MigrationReport {
        let installed = try await Self.installed(connection)
        let newest = steps.last?.version ?? 0
        guard installed.version <= newest else { throw StoreError.newerSchema(installed.version, program: newest) }
        try await makeRoles(isNew: installed.version == 0)
        if installed.version == 0 { try await connection.run(script: Self.versionTable) }
        var applied: [String] = []
        for step in steps where step.version > installed.version {
            try await connection.run(script: step.script + "\n;\n" + Self.record(step))
            applied.append(step.name)
        }
        try await connection.execute(
            PostgresStatement(Self.partitions, [.int32(Int32(Self.daysAhead))], prepare: false)
        )
        if newest >= Migration.inputChecks.version {
            try await connection.execute(
                PostgresStatement(
                    Self.inputRules,
                    [.text(ContentSchema.json), .text(TargetFilter.rules)],
                    prepare: false
                )
            )
        }
        let grants = try await SchemaGrant.missing(connection)
        for grant in grants { try await connection.run(script: grant) }
        return MigrationReport(from: installed.version, to: newest, applied: applied, granted: grants)
    }

    /// Makes the roles that the cluster has not yet, before anything else: without them the steps would leave their rights out.
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
        let missing = try await SchemaGrant.missingRoles(connection)
        let mayMakeRoles = try rights.bool(0, 0)
        let lacksDatabase = try rights.bool(0, 1)
        let user = try rights.text(0, 2)
        guard mayMakeRoles || missing.isEmpty, !lacksDatabase else {
            var statements = mayMakeRoles ? [] : missing.map(SchemaGrant.creation)
            if lacksDatabase { statements.append("GRANT CREATE ON DATABASE \(try rights.text(0, 3)) TO \(user);") }
            throw StoreError.rolesMissing(user: user, statements: statements)
        }
        // Roles belong to the cluster: who migrates another database of it may be making them, too.
        for role in missing {
            try await connection.run(
                script: """
                    DO $$ BEGIN \(SchemaGrant.creation(of: role))
                    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
                    """
            )
        }
    }

    /// The installed version (0 if none) and the oldest program that works with it.
    static func installed(_ connection: PostgresConnection) async throws -> (version: Int32, oldestProgram: Int32) {
        let table = try await connection.execute(
            PostgresStatement("SELECT to_regclass('pushmta_engine.schema_version') IS NOT NULL", prepare: false)
        )
        guard try table.bool(0, 0) else { return (0, 0) }
        let row = try await connection.execute(
            PostgresStatement(
                "SELECT coalesce(max(version), 0), coalesce(max(oldest_program), 0) FROM pushmta_engine.schema_version",
                prepare: false
            )
        )
        return (try row.int32(0, 0), try row.int32(0, 1))
    }

    private static let versionTable = """
        CREATE SCHEMA IF NOT EXISTS pushmta_engine;
        CREATE TABLE IF NOT EXISTS pushmta_engine.schema_version (
            version integer PRIMARY KEY,
            name text NOT NULL,
            oldest_program integer NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now(),
            applied_by text NOT NULL DEFAULT session_user
        );
        """

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

    private static func record(_ step: Migration) -> String {
        "INSERT INTO pushmta_engine.schema_version (version, name, oldest_program)"
            + " VALUES (\(step.version), '\(step.name)', \(step.oldestProgram));"
    }
}
