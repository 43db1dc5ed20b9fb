import Content
import PostgresClient
import PushCore

package struct MigrationReport: Sendable {
    /// The schema version before the migration, 0 if there was none.
    package let from: Int32
    /// Schema version after the migration.
    package let to: Int32
    /// Names of the files applied, in order; empty if there was nothing to do.
    package let applied: [String]
    /// Missing rights that roles were granted, as the GRANT statements.
    package let granted: [String]
    /// A warning about the server's version; nil if there is none.
    package let serverWarning: String?
}

/// Upgrades a database to the schema of this program; any number of hosts may do it at once.
struct Migrator {
    let connection: PostgresConnection

    /// Another migration of the same database takes seconds; a session that holds a table for longer is stuck, and the
    /// error names it.
    private static let lockTimeoutSeconds = 30

    /// Days for which partitions are created ahead.
    static let daysAhead = 7

    /// Does it in one transaction. A second caller waits for the lock on the record of versions or, in a new database,
    /// for the creation of the schema. Then its attempt fails, and a later one finds everything there.
    func migrate(_ versions: [SchemaVersion] = SchemaVersion.all) async throws -> MigrationReport {
        // Compiling the query of the rights takes 0.5 s, running it 20 ms.
        try await connection.run(script: "SET jit = off; SET lock_timeout = '\(Self.lockTimeoutSeconds)s'")
        for _ in 1..<Self.attempts {
            do {
                return try await attempt(versions)
            } catch let error as PostgresError where error.isUniqueViolation || error.sqlState == "42P06" {
                try await Task.sleep(for: Self.pause)
            }
        }
        return try await attempt(versions)
    }

    /// A session that has just found no schema may still find none for a moment after another session has committed it,
    /// because the server invalidates its cache of names slightly later. One more attempt was not always enough.
    private static let attempts = 20
    private static let pause = Duration.milliseconds(100)

    private func attempt(_ versions: [SchemaVersion]) async throws -> MigrationReport {
        try await connection.run(script: "BEGIN")
        do {
            let isNew = try await InstalledSchema.read(connection) == .none
            if !isNew { try await connection.run(script: Self.lock) }
            try await makeRoles(isNew: isNew)
            let report = try await migrateLocked(versions)
            try await connection.run(script: "COMMIT")
            return report
        } catch {
            // The attempt must leave nothing; after a lost connection the server has already rolled back.
            _ = try? await connection.run(script: "ROLLBACK")
            guard let error = error as? PostgresError, error.sqlState == "55P03" else { throw error }
            throw StoreError(
                .conflict,
                "Another session has held a table of the schema for \(Self.lockTimeoutSeconds) s: \(error.message).",
                hint: "wait until that transaction ends (pg_locks names it), or end it; then migrate again"
            )
        }
    }

    /// Others can still read the record.
    private static let lock = "LOCK TABLE pushmta_engine.schema_version IN SHARE ROW EXCLUSIVE MODE"

    private func migrateLocked(_ versions: [SchemaVersion]) async throws -> MigrationReport {
        let installed = try await InstalledSchema.read(connection)
        try installed.check(known: versions)
        var applied: [String] = []
        for version in versions where version.number > installed.number {
            let files = version.files.map(\.text) + [Self.record(version)]
            try await connection.run(script: files.joined(separator: "\n;\n"))
            applied += version.files.map(\.name)
        }
        try await connection.execute(
            PostgresStatement(Self.partitions, [.int32(Int32(Self.daysAhead))], prepare: false)
        )
        try await connection.execute(
            PostgresStatement(
                Self.inputRules,
                [
                    .text(ContentSchema.json), .text(ContentSchema.rules), .text(TargetFilter.rules),
                    .text(DeliverySetting.rules),
                ],
                prepare: false
            )
        )
        // The files have just read them for a new schema.
        if installed.number > 0 { try await connection.execute(PostgresStatement(Self.timeZones, prepare: false)) }
        let grants = try await SchemaRoles.missingRights(connection)
        if !grants.isEmpty { try await connection.run(script: grants.joined(separator: ";\n")) }
        return MigrationReport(
            from: installed.number,
            to: versions.last?.number ?? 0,
            applied: applied,
            granted: grants,
            // libpq writes 180006 for 18.6.
            serverWarning: ServerCheck.warning(major: connection.serverVersion / 10_000)
        )
    }

    /// First creates the roles that the cluster lacks, because rights are granted to them.
    private func makeRoles(isNew: Bool) async throws {
        let rights = try await connection.execute(
            PostgresStatement(
                """
                SELECT r.rolcreaterole OR r.rolsuper, $1 AND NOT has_database_privilege(current_database(), 'CREATE'),
                    quote_ident(current_user), quote_ident(current_database()),
                    (SELECT count(*) FROM pg_roles v WHERE v.rolname = ANY($2) AND pg_has_role(v.oid, 'USAGE')) < cardinality($2)
                FROM pg_roles r WHERE r.rolname = current_user
                """,
                [.bool(isNew), .textArray(SchemaRoles.owning)],
                prepare: false
            )
        )
        let (mayMakeRoles, lacksDatabase, user, database, isNoReader) = try rights.one { row in
            (try row.bool(), try row.bool(), try row.text(), try row.text(), try row.bool())
        }
        let missing = try await SchemaRoles.missing(connection)
        guard mayMakeRoles || missing.isEmpty && !isNoReader, !lacksDatabase else {
            var statements = mayMakeRoles ? [] : missing.map(SchemaRoles.creation)
            if !mayMakeRoles, isNoReader { statements.append(SchemaRoles.membership(of: user)) }
            if lacksDatabase { statements.append("GRANT CREATE ON DATABASE \(database) TO \(user);") }
            throw StoreError.rolesMissing(user: user, statements: statements)
        }
        // Roles belong to the cluster: a migration of another database in it may be creating them, too.
        for role in missing {
            try await connection.run(
                script: """
                    DO $$ BEGIN \(SchemaRoles.creation(of: role))
                    EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
                    """
            )
        }
        if isNoReader { try await connection.run(script: SchemaRoles.membership(of: user)) }
    }

    /// Also a day back: a delivery that was started before midnight may be prepared after it.
    static let partitions = """
        SELECT pushmta_engine.ensure_partitions(
            (now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + $1)
        """

    /// A newer server, or a newer system, may know more of them.
    private static let timeZones = "SELECT pushmta_engine.read_time_zones()"

    /// The rules of this program by which the database checks contents, filters and settings of deliveries.
    private static let inputRules = """
        INSERT INTO pushmta_engine.input_rule AS r (name, document)
        VALUES ('content', $1::jsonb), ('content_rules', $2::jsonb), ('filter', $3::jsonb), ('delivery', $4::jsonb)
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
