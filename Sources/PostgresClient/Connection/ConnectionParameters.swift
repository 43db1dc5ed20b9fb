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
