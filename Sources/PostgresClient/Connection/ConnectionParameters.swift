import CLibPQ

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The keywords for `PQconnectStartParams`, in order.
///
/// libpq takes a later keyword before an earlier one, and expands the connection string in its place: defaults go before
/// it, what must hold goes after it.
struct ConnectionParameters {
    let keywords: [(name: String, value: String)]

    /// - Parameter overrides: take the place of those in the connection string.
    init(_ configuration: PostgresConfiguration, overrides: [(name: String, value: String)] = []) {
        var keywords: [(name: String, value: String)] = []
        if !Self.namesService(configuration.connectionString) { keywords += Self.defaults }
        keywords.append(("dbname", configuration.connectionString))
        keywords += overrides
        keywords.append(("application_name", configuration.applicationName.text))
        // All texts go in and out as UTF-8.
        keywords.append(("client_encoding", "UTF8"))
        self.keywords = keywords
    }

    /// A dead peer is found within 30 s when idle (15 s + 3 × 5 s), and within 15 s when bytes are on their way.
    private static let defaults: [(name: String, value: String)] = [
        ("keepalives", "1"),
        ("keepalives_idle", "15"),
        ("keepalives_interval", "5"),
        ("keepalives_count", "3"),
        ("tcp_user_timeout", "15000"),
    ]

    /// Whether a service file is in play: its settings rank below keywords, so nothing may be set before it.
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

/// Connection options as libpq reads them; those without a value are left out.
enum ConnectionOptions {
    /// The options in a connection string or URI; none if it is only a database's name or cannot be read.
    static func parse(_ connectionString: String) -> [String: String] {
        take(PQconninfoParse(connectionString, nil))
    }

    /// libpq's defaults, with the `PG*` environment.
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
    /// What is wrong with the form of the connection string, without values of it; nil if libpq can read it.
    public var formProblem: String? {
        // Neither a list of options nor an address: a database's name.
        guard connectionString.contains("=") || connectionString.contains("://") else { return nil }
        var words: UnsafeMutablePointer<CChar>?
        if let options = PQconninfoParse(connectionString, &words) {
            PQconninfoFree(options)
            return nil
        }
        defer { PQfreemem(words) }
        let text = words.map { String(cString: $0) } ?? ""
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        // Other words quote what stands in the string, which may be a part of a password.
        let isOption = line.hasPrefix("invalid connection option") || line.hasPrefix("invalid URI query parameter")
        return isOption ? line : ValueRedaction.redact(line, sqlState: "22000")
    }

    /// `sslmode` as libpq takes it from the string, the environment or its default.
    public var sslMode: String {
        ConnectionOptions.defaults().merging(ConnectionOptions.parse(connectionString)) { $1 }["sslmode"] ?? "prefer"
    }
}

/// The servers of a connection string that names several, one after the other.
///
/// libpq goes on to the next one by itself when the first refuses, but not when it does not answer at all: only its blocking
/// calls know of time limits, and a loop of its own can merely give up. So each server gets an attempt of its own.
struct ServerAlternatives {
    /// Keywords that take the place of those in the string, for each server; one empty set if there is nothing to divide.
    let overrides: [[(name: String, value: String)]]
    /// `connect_timeout` of the string, which libpq does not apply to connections that are polled; nil if it has none.
    let connectTimeout: Duration?

    init(_ connectionString: String) {
        let given = ConnectionOptions.parse(connectionString)
        // What the string leaves out comes from the environment.
        let all = ConnectionOptions.defaults().merging(given) { $1 }
        let seconds = all["connect_timeout"].flatMap { Int($0) } ?? 0
        // libpq takes 1 for 2: a second may end right after it began.
        connectTimeout = seconds > 0 ? .seconds(max(2, seconds)) : nil
        overrides = Self.divide(given, all) ?? [[]]
    }

    private static func divide(
        _ given: [String: String],
        _ all: [String: String]
    ) -> [[(name: String, value: String)]]? {
        // These are about the list as a whole.
        if all["service"] != nil || all["target_session_attrs"] == "prefer-standby" { return nil }
        if all["load_balance_hosts"].map({ $0 != "disable" }) ?? false { return nil }
        // An address or a name in the string stands alone: the environment's other one would not fit to it.
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
        // An empty place means a default that no keyword can name; libpq then does the whole list.
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
