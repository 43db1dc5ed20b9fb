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
