/// What to do about a connection that could not be opened: its most likely problem, and the setting that it comes from.
enum ConnectionAdvice {
    /// - Parameters:
    ///   - error: the error of libpq or of the server.
    ///   - origin: the setting with the connection string, and where it was set; empty if unknown.
    static func words(for error: PostgresError, origin: String) -> String {
        let remedy = remedy(for: error)
        return origin.isEmpty ? remedy : "\(remedy) The connection comes from \(origin)."
    }

    /// The advice of the first rule that matches.
    private static func remedy(for error: PostgresError) -> String {
        if let state = error.sqlState, let words = byState.first(where: { state.hasPrefix($0.state) })?.words {
            return words
        }
        let message = error.message.lowercased()
        return byText.first { message.contains($0.text) }?.words ?? otherwise
    }

    /// SQLSTATEs of refused connections (PostgreSQL's appendix A); the longer ones come first.
    private static let byState: [(state: String, words: String)] = [
        (
            "28P01",
            "Give the right password in the password file (~/.pgpass, or passfile=), in PGPASSWORD or in the connection string."
        ),
        (
            "28",
            "Allow it in the server's pg_hba.conf and reload the server, or connect as another user (user=). The method peer admits only the database user with the name of this process's user."
        ),
        ("3D000", "Create the database (createdb NAME), or name another one (dbname=)."),
        ("42501", "Grant the user CONNECT on the database."),
        ("53300", "Raise the server's max_connections, or end other sessions; pg_stat_activity lists them."),
        ("57P03", "The server is starting or shutting down; the processes reconnect automatically."),
        ("57P01", "The server is shutting down or ended this session; the processes reconnect automatically."),
        ("08P01", "What answers there is neither PostgreSQL nor a supported pooler: check host and port."),
    ]

    /// Parts of libpq's messages from before a server has answered. They are English; other languages get the general
    /// advice.
    private static let byText: [(text: String, words: String)] = [
        ("could not translate host name", "Check the name (host=) and this machine's DNS."),
        (
            "no such file or directory",
            "No server has a socket there: start PostgreSQL, or set host= to its socket's folder (unix_socket_directories) or to a host, and port= to its port."
        ),
        (
            "connection refused",
            "Nothing listens there: check host and port, that PostgreSQL is running, and its listen_addresses."
        ),
        ("no route to host", "Check the network and firewalls between this machine and the server."),
        ("network is unreachable", "Check the network and firewalls between this machine and the server."),
        (
            "no answer within",
            "Check host and port, and look for a firewall between this machine and the server that drops packets."
        ),
        ("timeout expired", "Check host and port, and firewalls between this machine and the server."),
        (
            "root certificate file",
            "Put the authority's certificate there, name its file with sslrootcert=, or trust the system's authorities with sslrootcert=system."
        ),
        (
            "certificate verify failed",
            "No authority in sslrootcert has issued the server's certificate: name the right file there."
        ),
        (
            "does not match host name",
            "The server's certificate is for another name: give that name as host=, and the address as hostaddr=."
        ),
        (
            "does not support ssl",
            "Turn on ssl at the server, or connect unencrypted with sslmode=prefer or weaker."
        ),
        ("permission denied", "Grant this process's user access to that file or folder."),
        ("definition of service", "Check the service's name and the service file (PGSERVICEFILE, ~/.pg_service.conf)."),
        (
            "invalid connection option",
            "Write host=… dbname=… user=…, or postgresql://user@host/database: PostgreSQL's manual lists all words under “Connection Strings”."
        ),
        (
            "connection string cannot be read",
            "Write host=… dbname=… user=…, or postgresql://user@host/database: PostgreSQL's manual lists all words under “Connection Strings”."
        ),
    ]

    private static let otherwise =
        "Check the host, port, database and user of the connection, and that PostgreSQL is running there."
}
