/// The maximum number of connections of the database server, and how many of them are in use.
package struct ConnectionRoom: Sendable, Hashable {
    /// Connections that are not reserved for superusers.
    package let limit: Int
    /// Connections in use, including those of other programs.
    package let used: Int

    package var left: Int { max(0, limit - used) }

    /// A maximum, and the number in use.
    package init(limit: Int, used: Int) {
        self.limit = limit
        self.used = used
    }
}
