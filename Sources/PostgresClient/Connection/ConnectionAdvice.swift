/// What to do about a connection that could not be made: which setting it came from, and what is wrong with it most likely.
enum ConnectionAdvice {
    /// - Parameters:
    ///   - error: what libpq or the server said.
    ///   - origin: the setting with the connection string, and where it was set; empty if that is not known.
    static func words(for error: PostgresError, origin: String) -> String {
        let remedy = remedy(for: error)
        return origin.isEmpty ? remedy : "\(remedy) The connection comes from \(origin)."
    }

    /// The first rule that fits.
    private static func remedy(for error: PostgresError) -> String {
        if let state = error.sqlState, let words = byState.first(where: { state.hasPrefix($0.state) })?.words {
            return words
        }
        let message = error.message.lowercased()
        return byText.first { message.contains($0.text) }?.words ?? otherwise
    }

    /// SQLSTATEs of a refusal to connect (PostgreSQL's appendix A), the longer ones first.
    private static let byState: [(state: String, words: String)] = [
        (
            "28P01",
            "Give the right password: in the password file (~/.pgpass, or passfile=), in PGPASSWORD or in the connection string."
        ),
        (
            "28",
            "Allow it in pg_hba.conf of the server and reload that, or connect as another user (user=). Method peer lets in who has the same name as the user of this process."
        ),
        ("3D000", "Create the database (createdb NAME), or name another one (dbname=)."),
        ("42501", "Give the user the right CONNECT on the database."),
        ("53300", "Raise max_connections of the server, or end what else is connected; pg_stat_activity shows who."),
        ("57P03", "The server starts or ends: it goes on by itself when that is over."),
        ("57P01", "The server ends or ends sessions: it goes on by itself when it is back."),
        ("08P01", "Something that is no PostgreSQL, or no fitting pooler, answers there: check host and port."),
    ]

    /// What libpq says before a server has said anything; its words in English, others get the general advice.
    private static let byText: [(text: String, words: String)] = [
        ("could not translate host name", "Check the name (host=) and this machine's name service."),
        (
            "no such file or directory",
            "No server has its socket there: start PostgreSQL, or name the folder of its socket (unix_socket_directories) or a host with host=, and its port with port=."
        ),
        (
            "connection refused",
            "Nothing listens there: check host and port, that PostgreSQL runs, and its listen_addresses."
        ),
        ("no route to host", "Check the network and firewalls between this machine and the server."),
        ("network is unreachable", "Check the network and firewalls between this machine and the server."),
        (
            "no answer within",
            "Check host and port, and firewalls between this machine and the server: one that drops packets looks like this."
        ),
        ("timeout expired", "Check host and port, and firewalls between this machine and the server."),
        (
            "root certificate file",
            "Put the authority's certificate there, name its file with sslrootcert=, or sslrootcert=system for the system's authorities."
        ),
        (
            "certificate verify failed",
            "The server's certificate is of none of the authorities in sslrootcert: name the right file there."
        ),
        (
            "does not match host name",
            "The server's certificate is for another name: give that one as host=, with hostaddr= for its address."
        ),
        (
            "does not support ssl",
            "Turn ssl on at the server; sslmode=prefer or less does without, in the open."
        ),
        ("permission denied", "Give this process's user the rights on that file or folder."),
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
        "Check host, port, database and user of the connection, and that PostgreSQL runs there."
}
