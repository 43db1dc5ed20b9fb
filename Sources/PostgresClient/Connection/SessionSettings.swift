/// The settings that each session makes right after connecting.
///
/// Everything that statements rely on is set here, and overrides what is set for the role, the database or the server.
/// It is set after connecting and not in the start message, which a pooler may consume.
///
/// A host that is cut off leaves its sessions and their locks at the server. By default PostgreSQL detects a dead peer
/// after two hours. With these settings other hosts can continue after about 15 s.
enum SessionSettings {
    /// How long a transaction may wait for its client's next statement, in milliseconds. A client that was cut off or
    /// stopped would otherwise keep its locks, on parts for example. No transaction of ours waits for a person or
    /// another server.
    private static let idleInTransactionMilliseconds = 5_000

    /// Settings that affect the meaning of statements, with their values.
    static let pinned: [(name: String, value: String)] = [
        // Names, also within settings, are quoted only where necessary, so that they compare equal to stored ones.
        ("quote_all_identifiers", "off"),
        // Names resolve to PostgreSQL's own objects. Otherwise a role with CREATE on a schema in the path could shadow
        // a function, which would run with the session's rights. Unless pg_temp is named, it is searched first.
        ("search_path", "pg_catalog, pg_temp"),
        // A backslash in a string literal is a plain character.
        ("standard_conforming_strings", "on"),
        // Code that needs a stricter isolation asks for it. In a stricter one every conflict is an error.
        ("default_transaction_isolation", "read committed"),
        ("default_transaction_deferrable", "off"),
        // Times have one format, and days begin at the same moment.
        ("DateStyle", "ISO, MDY"),
        ("IntervalStyle", "postgres"),
        ("TimeZone", "UTC"),
        // Text is UTF-8, numbers are exact, and bytes are hexadecimal digits.
        ("client_encoding", "UTF8"),
        ("extra_float_digits", "1"),
        ("bytea_output", "hex"),
        // NULL in an array literal means NULL, and "= NULL" is never true.
        ("array_nulls", "on"),
        ("transform_null_equals", "off"),
        // Our functions expect that SELECT INTO may find no row, or more than one.
        ("plpgsql.extra_errors", "none"),
    ]

    /// Commits are durable: losing a claim or a mark in a crash would send messages twice. A setting that also waits
    /// for a replica is kept. The second column is for ``ServerCheck``.
    private static let durabilitySQL = """
        VALUES (pg_catalog.set_config('synchronous_commit',
            CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'
                OR pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'local'
            THEN 'on' ELSE pg_catalog.current_setting('synchronous_commit') END, false),
            pg_catalog.current_setting('session_replication_role'))
        """

    /// The statements that set up a session; settings that not every server has form a group of their own.
    static func groups(_ configuration: PostgresConfiguration, serverVersion: Int32) -> [[PostgresStatement]] {
        var first = pinned.map { name, value in
            // The path is a list, so it is not quoted.
            "\(name) = \(name == "search_path" ? value : "'\(value)'")"
        }
        first += [
            "idle_in_transaction_session_timeout = \(idleInTransactionMilliseconds)",
            // A dead peer is detected within 14 s if the session is idle, and within 10 s if data is sent to it.
            "tcp_keepalives_idle = 5", "tcp_keepalives_interval = 3", "tcp_keepalives_count = 3",
        ]
        if let limit = configuration.statementTimeoutMilliseconds { first.append("statement_timeout = \(limit)") }
        if let limit = configuration.lockTimeoutMilliseconds { first.append("lock_timeout = \(limit)") }
        var second: [String] = []
        if serverVersion >= 120_000 { second.append("tcp_user_timeout = 10000") }
        // A statement that runs or waits for a lock also checks that its client is connected.
        if serverVersion >= 140_000 { second.append("client_connection_check_interval = 5000") }
        let sets = [first, second].map { $0.map { PostgresStatement("SET \($0)", prepare: false) } }
        return [sets[0] + [PostgresStatement(durabilitySQL, prepare: false)], sets[1]].filter { !$0.isEmpty }
    }
}
