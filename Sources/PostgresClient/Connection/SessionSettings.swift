/// What each session asks of its server right after connecting.
///
/// What statements rely on is set here, whatever an administrator has set for a role, a database or the server: after connecting and
/// not in the start message, which a pooler may take for itself.
///
/// A host that is cut off leaves its sessions behind at the server, with their locks: PostgreSQL notices a dead peer after
/// two hours, unless it is told to look. With these settings other hosts can go on after some 15 s.
enum SessionSettings {
    /// How long a transaction may wait for its client's next statement: a client that was cut off or stopped says nothing more, and
    /// what it has locked, parts for example, is kept from all others. Ours wait for no person and for no other server.
    private static let idleInTransactionMilliseconds = 5_000

    /// What the meaning of statements depends on, with its value.
    static let pinned: [(name: String, value: String)] = [
        // What is shown of names, of settings too, has quotes where it needs them, and compares with what was stored.
        ("quote_all_identifiers", "off"),
        // Names are those of PostgreSQL: a role that may create in a schema on the path could put its own function in the
        // place of one, and it would run with the session's rights. Without a word of it the temporary schema is looked at first.
        ("search_path", "pg_catalog, pg_temp"),
        // A backslash in a text of a statement is a backslash.
        ("standard_conforming_strings", "on"),
        // A statement sees what was committed before it; code that wants more says so. In the stricter ones each conflict is an error.
        ("default_transaction_isolation", "read committed"),
        ("default_transaction_deferrable", "off"),
        // Times are read and written in one form, and days begin at one moment.
        ("DateStyle", "ISO, MDY"),
        ("IntervalStyle", "postgres"),
        ("TimeZone", "UTC"),
        // Texts go out and in as UTF-8, numbers as they are, bytes as hexadecimal digits.
        ("client_encoding", "UTF8"),
        ("extra_float_digits", "1"),
        ("bytea_output", "hex"),
        // NULL in an array is none, and "= NULL" is never true.
        ("array_nulls", "on"),
        ("transform_null_equals", "off"),
        // An answer without a row, or with several, is what our functions expect.
        ("plpgsql.extra_errors", "none"),
    ]

    /// What is committed lasts: a claim or a mark that a crash takes back sends messages twice. What waits for a replica as well is
    /// kept. The second column is for ``ServerCheck``.
    private static let durabilitySQL = """
        VALUES (pg_catalog.set_config('synchronous_commit',
            CASE WHEN pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'off'
                OR pg_catalog.current_setting('synchronous_commit') OPERATOR(pg_catalog.=) 'local'
            THEN 'on' ELSE pg_catalog.current_setting('synchronous_commit') END, false),
            pg_catalog.current_setting('session_replication_role'))
        """

    /// Statements that make a session's settings; those that not every server has come in a group of their own.
    static func groups(_ configuration: PostgresConfiguration, serverVersion: Int32) -> [[PostgresStatement]] {
        var first = pinned.map { name, value in
            // The path is a list, and so without quotes.
            "\(name) = \(name == "search_path" ? value : "'\(value)'")"
        }
        first += [
            "idle_in_transaction_session_timeout = \(idleInTransactionMilliseconds)",
            // A peer that is gone is found within 14 s when the session is idle, within 10 s when it is sent something.
            "tcp_keepalives_idle = 5", "tcp_keepalives_interval = 3", "tcp_keepalives_count = 3",
        ]
        if let limit = configuration.statementTimeoutMilliseconds { first.append("statement_timeout = \(limit)") }
        if let limit = configuration.lockTimeoutMilliseconds { first.append("lock_timeout = \(limit)") }
        var second: [String] = []
        if serverVersion >= 120_000 { second.append("tcp_user_timeout = 10000") }
        // A statement that runs or waits for a lock looks for its client as well.
        if serverVersion >= 140_000 { second.append("client_connection_check_interval = 5000") }
        let sets = [first, second].map { $0.map { PostgresStatement("SET \($0)", prepare: false) } }
        return [sets[0] + [PostgresStatement(durabilitySQL, prepare: false)], sets[1]].filter { !$0.isEmpty }
    }
}

/// Whether a server and its database are of a kind that the program works with.
public enum ServerCheck {
    /// The least version, as libpq writes it. What an older one lacks would fail here and there; 14's support by PostgreSQL has ended.
    static let leastVersion: Int32 = 150_000
    /// The newest major version that the product's tests have run on; `Deploy/test release` runs them on each from the least to this one.
    static let newestTested: Int32 = 18

    /// What is to be said of a server that is newer than the tests have seen; nil of one that is not.
    ///
    /// - Parameter major: the first part of its version: 18 for 18.6.
    public static func warning(major: Int32) -> String? {
        guard major > newestTested else { return nil }
        let tested = "\(number(leastVersion)) to \(newestTested)"
        return "the server is PostgreSQL \(major), and this version of PushMTA was tested on \(tested): "
            + "look for a newer PushMTA, or try a copy of the database first"
    }

    /// What is wrong with a server; nil if nothing is.
    ///
    /// - Parameters:
    ///   - version: as libpq writes it: 150018 for 15.18.
    ///   - encoding: that of the database; nil if the server did not say.
    static func problem(version: Int32, encoding: String?) -> PostgresError? {
        guard version >= leastVersion else {
            return PostgresError(
                code: .server,
                message: "the server is PostgreSQL \(number(version)); at least \(number(leastVersion)) is needed",
                remedy: "Upgrade it with pg_upgrade, or restore a dump on a newer server."
            )
        }
        guard let encoding, encoding != "UTF8" else { return nil }
        return PostgresError(
            code: .server,
            message:
                "the database has the encoding \(encoding), which lacks characters or checks none; UTF8 is needed",
            remedy:
                "Create another (createdb --encoding UTF8 --template template0 NAME), and name it in database.url."
        )
    }

    /// What is wrong with a session in which triggers do not fire; nil if they do. Only a superuser may set it, so no session of ours can
    /// set it right.
    static func problem(replicationRole role: String) -> PostgresError? {
        guard role == "replica" else { return nil }
        return PostgresError(
            code: .server,
            message: "session_replication_role is replica here: no trigger fires, and outcomes cannot be stored",
            remedy: "As a superuser, take it back (RESET) for the role, the database or the server, wherever it is set."
        )
    }

    private static func number(_ version: Int32) -> String {
        // Since 10 the second part is that of the correction.
        version >= 100_000 ? "\(version / 10_000)" : "\(version / 10_000).\(version / 100 % 100)"
    }
}
