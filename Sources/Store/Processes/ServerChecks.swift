import PostgresClient

/// The server's view of one of our sessions: its user and its connection.
package struct SessionFacts: Sendable {
    package let user: String
    /// Whether the connection is over a Unix socket.
    package let isLocal: Bool
    /// The server's address, "" over a Unix socket.
    package let serverAddress: String
    /// The version of TLS; nil if the connection is not encrypted.
    package let tls: String?
    /// Whether the user is a superuser of the cluster.
    package let isSuperuser: Bool
    /// Whether the user has the rights that processes need: it owns the schema, or is a member of its owner or of
    /// `pushmta_runtime`.
    package let mayRun: Bool

    /// A session as the server sees it.
    package init(user: String, isLocal: Bool, serverAddress: String, tls: String?, isSuperuser: Bool, mayRun: Bool) {
        self.user = user
        self.isLocal = isLocal
        self.serverAddress = serverAddress
        self.tls = tls
        self.isSuperuser = isSuperuser
        self.mayRun = mayRun
    }
}

/// A replica that follows the primary.
package struct ReplicaFacts: Sendable {
    /// The name that it chose itself (`application_name`).
    package let name: String
    /// Whether commits may wait for it: `async`, `potential`, `sync` or `quorum`; "" if this user may not see it.
    package let syncState: String
    /// How many seconds it lags behind; nil if it has applied everything, or this user may not see it.
    package let lagSeconds: Double?
    /// How many bytes it has not applied yet; nil if this user may not see it.
    package let lagBytes: Int64?

    package init(name: String, syncState: String, lagSeconds: Double?, lagBytes: Int64?) {
        self.name = name
        self.syncState = syncState
        self.lagSeconds = lagSeconds
        self.lagBytes = lagBytes
    }
}

/// Rights that no role needs, and that let roles act with the rights of others.
package struct SpareRights: Sendable, Hashable {
    /// The roles that may create objects in a schema where statements of others look up names.
    package let creators: [Creator]
    /// The owner of the schema, if it may create roles, and through them get the rights of almost any role.
    package let ownerThatMakesRoles: String?

    /// The statements for an administrator after which only owners may create objects where names are looked up; empty
    /// if that is so.
    package var creatorRemedies: [String] {
        creators.map { "REVOKE CREATE ON SCHEMA \($0.schema) FROM \($0.role);" }
    }

    /// The statement for an administrator after which the owner can create no more roles; nil if it cannot now.
    package var ownerRemedy: String? { ownerThatMakesRoles.map { "ALTER ROLE \($0) NOCREATEROLE" } }

    /// A role that may create objects in a schema.
    package struct Creator: Sendable, Hashable {
        package let schema: String
        /// The role as SQL writes it, `PUBLIC` for all roles.
        package let role: String
    }
}

extension Store {
    /// Rights that no role needs.
    package func spareRights() async throws -> SpareRights {
        let results = try await group([
            PostgresStatement(Self.creatorsSQL), PostgresStatement(Self.ownerThatMakesRolesSQL),
        ])
        return SpareRights(
            creators: try all(results[0]) { row in
                SpareRights.Creator(schema: try row.text(), role: try row.text())
            },
            ownerThatMakesRoles: try results[1].oneOrNil { try $0.text() }
        )
    }

    /// In the product's schemas only their owner creates objects. In `public` an administrator may allow single roles,
    /// but not PUBLIC.
    private static let creatorsSQL = """
        SELECT quote_ident(n.nspname), CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END
        FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
        WHERE a.privilege_type = 'CREATE' AND CASE WHEN n.nspname = 'public' THEN a.grantee = 0
            ELSE n.nspname IN ('pushmta', 'pushmta_engine', 'pushmta_raw') AND a.grantee <> n.nspowner END
        ORDER BY 1, 2
        """

    private static let ownerThatMakesRolesSQL = """
        SELECT quote_ident(r.rolname) FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner
        WHERE n.nspname = 'pushmta_engine' AND r.rolcreaterole AND NOT r.rolsuper
        """

    /// The user of this session, and how it is connected.
    package func sessionFacts() async throws -> SessionFacts {
        try await query(Self.sessionFactsSQL).one { row in
            SessionFacts(
                user: try row.text(),
                isLocal: try row.bool(),
                serverAddress: try row.text(),
                tls: try row.textOrNil(),
                isSuperuser: try row.bool(),
                mayRun: try row.bool()
            )
        }
    }

    private static let sessionFactsSQL = """
        SELECT current_user::text, inet_server_addr() IS NULL, coalesce(host(inet_server_addr()), ''),
            (SELECT s.version FROM pg_stat_ssl s WHERE s.pid = pg_backend_pid() AND s.ssl),
            coalesce((SELECT r.rolsuper FROM pg_roles r WHERE r.rolname = current_user), false),
            EXISTS (SELECT FROM pg_namespace n WHERE n.nspname = 'pushmta_engine' AND pg_has_role(n.nspowner, 'USAGE'))
            OR EXISTS (SELECT FROM pg_roles r WHERE r.rolname = 'pushmta_runtime' AND pg_has_role(r.oid, 'USAGE'))
        """

    /// This user, as SQL writes it, if it cannot see how long sessions of other roles have held what PushMTA waits for;
    /// otherwise nil.
    package func userBlindToSessions() async throws -> String? {
        try await query(
            "SELECT CASE WHEN NOT pg_has_role('pg_read_all_stats', 'USAGE') THEN quote_ident(current_user) END"
        )
        .one { try $0.textOrNil() }
    }

    /// The replicas of this primary. Base backups and logical subscribers do not count, because they cannot take over.
    /// None on a replica.
    package func replicas() async throws -> [ReplicaFacts] {
        let result = try await query(Self.replicasSQL)
        return try all(result) { row in
            ReplicaFacts(
                name: try row.text(),
                syncState: try row.text(),
                lagSeconds: try row.doubleOrNil(),
                lagBytes: try row.int64OrNil()
            )
        }
    }

    private static let replicasSQL = """
        SELECT coalesce(r.application_name, ''), coalesce(r.sync_state, ''),
            extract(epoch FROM r.replay_lag)::double precision,
            CASE WHEN NOT pg_is_in_recovery() THEN pg_wal_lsn_diff(pg_current_wal_lsn(), r.replay_lsn)::bigint END
        FROM pg_stat_replication r
        WHERE r.state IS DISTINCT FROM 'backup' AND NOT EXISTS (
            SELECT FROM pg_replication_slots s WHERE s.active_pid = r.pid AND s.slot_type = 'logical')
        ORDER BY 1
        """
}

extension Store {
    /// The server settings that durability depends on, with their values, for benches and the doctor to print.
    package func durabilitySettings() async throws -> [(name: String, value: String)] {
        let result = try await query(
            """
            SELECT name, setting FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'server_version')
            ORDER BY name
            """
        )
        return try all(result) { row in (name: try row.text(), value: try row.text()) }
    }

    /// Identifies this database: a UUID, 36 lower-case characters, created once by migration.
    package func installationID() async throws -> String {
        let result = try await query("SELECT id::text FROM pushmta_engine.installation")
        return try first(result, orThrow: "The database has no installation id.", hint: "pushmta migrate") { row in
            try row.text()
        }
    }
}
