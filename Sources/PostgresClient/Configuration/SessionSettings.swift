/// What each session asks of its server right after connecting.
///
/// A host that is cut off leaves its sessions behind at the server, with their locks: PostgreSQL notices a dead peer after
/// two hours, unless it is told to look. With these settings other hosts can go on after some 15 s.
enum SessionSettings {
    /// How long a transaction may wait for its client's next statement: a client that was cut off or stopped says nothing more, and
    /// what it has locked, parts for example, is kept from all others. Ours wait for no person and for no other server.
    private static let idleInTransactionMilliseconds = 5_000

    /// Statements that make a session's settings; those that not every server has come in a group of their own.
    static func groups(_ configuration: PostgresConfiguration, serverVersion: Int32) -> [[PostgresStatement]] {
        var first = [
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
        return [first, second].filter { !$0.isEmpty }.map { $0.map { PostgresStatement("SET \($0)", prepare: false) } }
    }
}
