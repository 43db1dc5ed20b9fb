import CLibPQ

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The keywords for `PQconnectStartParams`, in order.
///
/// For libpq a later keyword overrides an earlier one, and the connection string is expanded in its place. So defaults
/// precede it, and what must hold follows it.
struct ConnectionParameters {
    let keywords: [(name: String, value: String)]

    /// - Parameter overrides: override those in the connection string.
    init(_ configuration: PostgresConfiguration, overrides: [(name: String, value: String)] = []) {
        var keywords: [(name: String, value: String)] = []
        if !Self.namesService(configuration.connectionString) { keywords += Self.defaults }
        keywords.append(("dbname", configuration.connectionString))
        keywords += overrides
        keywords.append(("application_name", configuration.applicationName.text))
        // All text is sent and received as UTF-8.
        keywords.append(("client_encoding", "UTF8"))
        self.keywords = keywords
    }

    /// A dead peer is detected within 30 s when idle (15 s + 3 × 5 s), and within 15 s when bytes are unacknowledged.
    private static let defaults: [(name: String, value: String)] = [
        ("keepalives", "1"),
        ("keepalives_idle", "15"),
        ("keepalives_interval", "5"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"),
    ]

    /// Whether a service file is used. Keywords override its settings, so no defaults may be set.
    private static func namesService(_ connectionString: String) -> Bool {
        if getenv("PGSERVICE") != nil { return true }
        return ConnectionOptions.parse(connectionString)["service"] != nil
    }

    /// Calls the body with NULL-terminated arrays of names and values.
    func withKeywords<T>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> T
    ) -> T {
        let names = keywords.map { strdup($0.name) }
        let values = keywords.map { strdup($0.value) }
        defer { for copy in names + values { free(copy) } }
        let namePointers = names.map { $0.map { UnsafePointer($0) } } + [nil]
        let valuePointers = values.map { $0.map { UnsafePointer($0) } } + [nil]
        return namePointers.withUnsafeBufferPointer { names in
            valuePointers.withUnsafeBufferPointer { values in
                guard let first = names.baseAddress, let second = values.baseAddress else {
                    preconditionFailure("arrays with a terminator are never empty")
                }
                return body(first, second)
            }
        }
    }
}

/// Connection options as libpq parses them; options without a value are omitted.
enum ConnectionOptions {
    /// The options in a connection string or URI; none if it is only a database name or cannot be parsed.
    static func parse(_ connectionString: String) -> [String: String] {
        take(PQconninfoParse(connectionString, nil))
    }

    /// libpq's defaults, including the `PG*` environment variables.
    static func defaults() -> [String: String] {
        take(PQconndefaults())
    }

    private static func take(_ options: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
        guard let options else { return [:] }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        return values
    }
}

extension PostgresConfiguration {
    /// Why libpq cannot parse the connection string, without its values; nil if it can.
    package var formProblem: String? {
        // Neither a list of options nor a URI: a database name.
        guard connectionString.contains("=") || connectionString.contains("://") else { return nil }
        var words: UnsafeMutablePointer<CChar>?
        if let options = PQconninfoParse(connectionString, &words) {
            PQconninfoFree(options)
            return nil
        }
        defer { PQfreemem(words) }
        let text = words.map { String(cString: $0) } ?? ""
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        // Other messages quote parts of the string, which may hold a password.
        let isOption = line.hasPrefix("invalid connection option") || line.hasPrefix("invalid URI query parameter")
        return isOption ? line : ValueRedaction.redact(line, sqlState: "22000")
    }

    /// `sslmode` from the string, the environment or libpq's default.
    package var sslMode: String {
        ConnectionOptions.defaults().merging(ConnectionOptions.parse(connectionString)) { $1 }["sslmode"] ?? "prefer"
    }
}

/// The servers of a connection string that names more than one, to be tried in turn.
///
/// libpq tries the next server when one refuses, but not when one does not answer: only its blocking calls apply time
/// limits, and a caller that polls can merely give up. So each server gets its own attempt.
struct ServerAlternatives {
    /// For each server, the keywords that override those in the string; one empty set if the string is used as it is.
    let overrides: [[(name: String, value: String)]]
    /// The `connect_timeout` of the string, which libpq does not apply when it is polled; nil for none.
    let connectTimeout: Duration?

    init(_ connectionString: String) {
        let given = ConnectionOptions.parse(connectionString)
        // The environment supplies what the string omits.
        let all = ConnectionOptions.defaults().merging(given) { $1 }
        let seconds = all["connect_timeout"].flatMap { Int($0) } ?? 0
        // Like libpq, which uses a minimum of 2 s because a second may end right after it began.
        connectTimeout = seconds > 0 ? .seconds(max(2, seconds)) : nil
        overrides = Self.divide(given, all) ?? [[]]
    }

    private static func divide(
        _ given: [String: String],
        _ all: [String: String]
    ) -> [[(name: String, value: String)]]? {
        // These apply to the list as a whole.
        if all["service"] != nil || all["target_session_attrs"] == "prefer-standby" { return nil }
        if all["load_balance_hosts"].map({ $0 != "disable" }) ?? false { return nil }
        // If the string has host or hostaddr, the environment's other one must not be combined with it.
        let isNamed = given["host"] != nil || given["hostaddr"] != nil
        let source = isNamed ? given : all
        let (hosts, addresses) = (list(source["host"]), list(source["hostaddr"]))
        var ports = list(all["port"])
        let count = max(hosts.count, addresses.count)
        guard count > 1, hosts.isEmpty || hosts.count == count, addresses.isEmpty || addresses.count == count else {
            return nil
        }
        if ports.isEmpty { ports = [""] }
        if ports.count == 1 { ports = Array(repeating: ports[0], count: count) }
        // An empty entry stands for a default that no keyword can name; libpq then gets the whole list.
        guard ports.count == count, (hosts + addresses).allSatisfy({ !$0.isEmpty }) else { return nil }
        return (0..<count).map { position in
            var keywords: [(name: String, value: String)] = []
            if !hosts.isEmpty { keywords.append(("host", hosts[position])) }
            if !addresses.isEmpty { keywords.append(("hostaddr", addresses[position])) }
            keywords.append(("port", ports[position].isEmpty ? "5432" : ports[position]))
            return keywords
        }
    }

    private static func list(_ text: String?) -> [String] {
        guard let text, !text.isEmpty else { return [] }
        return text.split(separator: ",", omittingEmptySubsequences: false).map { item in
            String(item.drop(while: \.isWhitespace))
        }
    }
}
