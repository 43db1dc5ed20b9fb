/// The name of a connection in `pg_stat_activity`: `pushmta/role/host/pid`.
package struct PostgresApplicationName: Sendable, Hashable, CustomStringConvertible {
    /// The text, at most 63 bytes of printable ASCII.
    package let text: String

    /// PostgreSQL truncates longer names (NAMEDATALEN - 1).
    private static let maxLength = 63

    /// Makes the name; a long host name is truncated so that role and pid stay readable.
    package init(role: String, host: String, pid: Int32) {
        let product = "pushmta/"
        let role = Self.printable(role).prefix(24)
        let tail = "/\(pid)"
        let room = Self.maxLength - product.utf8.count - role.utf8.count - 1 - tail.utf8.count
        text = product + role + "/" + Self.printable(host).prefix(max(0, room)) + tail
    }

    package var description: String { text }

    /// PostgreSQL replaces other bytes with question marks; doing it here makes the length known.
    private static func printable(_ text: String) -> String {
        String(decoding: text.utf8.map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
