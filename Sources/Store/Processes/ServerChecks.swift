import PostgresClient

/// What the server says of a session of ours: who it is, and how it got there.
public struct SessionFacts: Sendable {
    public let user: String
    /// Whether the connection is over a Unix socket.
    public let isLocal: Bool
    /// The server's address, "" over a Unix socket.
    public let serverAddress: String
    /// The version of TLS; nil if the connection is in the open.
    public let tls: String?
    /// Whether the user may do everything in the cluster.
    public let isSuperuser: Bool
    /// Whether the user has the rights that processes need: it owns the schema, or is a member of its owner or of `pushmta_runtime`.
    public let mayRun: Bool

    /// A session as the server sees it.
    public init(user: String, isLocal: Bool, serverAddress: String, tls: String?, isSuperuser: Bool, mayRun: Bool) {
        self.user = user
        self.isLocal = isLocal
        self.serverAddress = serverAddress
        self.tls = tls
        self.isSuperuser = isSuperuser
        self.mayRun = mayRun
    }
}

/// A replica that follows the primary.
public struct ReplicaFacts: Sendable {
    /// The name that it gives itself (`application_name`).
    public let name: String
    /// Whether commits may wait for it: `async`, `potential`, `sync` or `quorum`; "" where this user may not see it.
    public let syncState: String
    /// Seconds of what it has not applied yet; nil if all is applied, or this user may not see it.
    public let lagSeconds: Double?
    /// Bytes of what it has not applied yet; nil where this user may not see it.
    public let lagBytes: Int64?

    public init(name: String, syncState: String, lagSeconds: Double?, lagBytes: Int64?) {
        self.name = name
        self.syncState = syncState
        self.lagSeconds = lagSeconds
        self.lagBytes = lagBytes
    }
}

/// What roles may do that no role needs to, and that lets them act with the rights of others.
public struct SpareRights: Sendable, Hashable {
    /// Which role may create objects in which schema where the names of others' statements are looked up.
    public let creators: [Creator]
    /// The owner of the schema, if it may make roles, and with them take the rights of almost everybody.
    public let ownerThatMakesRoles: String?

    /// What an administrator runs so that only owners may create where names are looked up; empty if that is so.
    public var creatorRemedies: [String] {
        creators.map { "REVOKE CREATE ON SCHEMA \($0.schema) FROM \($0.role);" }
    }

    /// What an administrator runs so that the owner makes no more roles; nil if it makes none.
    public var ownerRemedy: String? { ownerThatMakesRoles.map { "ALTER ROLE \($0) NOCREATEROLE" } }

    /// A role that may create in a schema.
    public struct Creator: Sendable, Hashable {
        public let schema: String
        /// The role as SQL writes it, `PUBLIC` for everybody.
        public let role: String

        /// A role that may create in a schema.
        public init(schema: String, role: String) {
            self.schema = schema
            self.role = role
        }
    }

    public init(creators: [Creator], ownerThatMakesRoles: String?) {
        self.creators = creators
        self.ownerThatMakesRoles = ownerThatMakesRoles
    }
}

extension Store {
    /// What roles may do that no role needs to.
    public func spareRights() async throws -> SpareRights {
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

    /// In the product's schemas only their owner creates. In `public` an administrator may allow single roles, but not everyone.
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

    /// Who this session is, and how it is connected.
    public func sessionFacts() async throws -> SessionFacts {
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

    /// This user, as SQL writes it, if it does not see since when sessions of other roles have held what PushMTA waits for; else nil.
    public func userBlindToSessions() async throws -> String? {
        try await query(
            "SELECT CASE WHEN NOT pg_has_role('pg_read_all_stats', 'USAGE') THEN quote_ident(current_user) END"
        )
        .one { try $0.textOrNil() }
    }

    /// The replicas that follow; base backups and subscribers of logical replication, which cannot take over, do not count. None on a
    /// replica.
    public func replicas() async throws -> [ReplicaFacts] {
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
    /// The server settings on which durability rests, with their values, for benches and the doctor to print.
    public func durabilitySettings() async throws -> [(name: String, value: String)] {
        let result = try await query(
            """
            SELECT name, setting FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'server_version')
            ORDER BY name
            """
        )
        return try all(result) { row in (name: try row.text(), value: try row.text()) }
    }

    /// Which database this is: a UUID, 36 lower-case characters, made once by migration.
    public func installationID() async throws -> String {
        let result = try await query("SELECT id::text FROM pushmta_engine.installation")
        return try first(result, orThrow: "The database has no installation id.", hint: "pushmta migrate") { row in
            try row.text()
        }
    }
}
