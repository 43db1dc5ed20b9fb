import PostgresClient

/// A session as its browser names it, for changes.
package struct ConsoleActor: Sendable, Hashable {
    /// SHA-256 of the session's token.
    package var tokenHash: [UInt8]
    /// The session ends after this many seconds without use.
    package var idleSeconds: Int
    /// The origin of the request, for the audit log.
    package var address: String
    /// The time; nil for the database's own, except in tests.
    package var moment: DatabaseTime?

    package init(tokenHash: [UInt8], idleSeconds: Int, address: String, moment: DatabaseTime? = nil) {
        self.tokenHash = tokenHash
        self.idleSeconds = idleSeconds
        self.address = address
        self.moment = moment
    }

    /// The first argument of each function of the console, made of the statement's first four ``values``.
    static let caller = """
        ROW($1::bytea, coalesce($2::timestamptz, now()), make_interval(secs => $3), $4::text)::pushmta_engine.console_caller
        """

    /// The values of ``caller``.
    var values: [PostgresValue] {
        [.bytes(tokenHash), Store.moment(moment), .double(Double(idleSeconds)), .text(address)]
    }
}
