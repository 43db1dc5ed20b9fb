/// The name under which a connection shows in `pg_stat_activity`: `pushmta/role/host/pid`.
public struct PostgresApplicationName: Sendable, Hashable, CustomStringConvertible {
    /// The text, at most 63 bytes of printable ASCII.
    public let text: String

    /// PostgreSQL cuts longer names (NAMEDATALEN - 1).
    private static let maximumLength = 63

    /// Makes the name; a long host name is shortened so that role and pid stay readable.
    public init(role: String, host: String, pid: Int32) {
        let product = "pushmta/"
        let role = Self.printable(role).prefix(24)
        let tail = "/\(pid)"
        let room = Self.maximumLength - product.utf8.count - role.utf8.count - 1 - tail.utf8.count
        text = product + role + "/" + Self.printable(host).prefix(max(0, room)) + tail
    }

    /// The text.
    public var description: String { text }

    /// PostgreSQL replaces other bytes by question marks; doing it here keeps the length known.
    private static func printable(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
