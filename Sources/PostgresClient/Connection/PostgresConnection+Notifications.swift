extension PostgresConnection {
    /// Listens to a channel, until the connection ends or ``unlisten(_:)``.
    public func listen(_ channel: String) async throws {
        try await execute(PostgresStatement("LISTEN \(Self.quoted(channel))", prepare: false))
    }

    /// Stops listening to a channel.
    public func unlisten(_ channel: String) async throws {
        try await execute(PostgresStatement("UNLISTEN \(Self.quoted(channel))", prepare: false))
    }

    /// Waits for the next notification of any channel listened to; nil at the deadline.
    ///
    /// Notifications that came while nobody waited are kept (the newest 10,000) and returned first. Statements can run
    /// meanwhile, but a running transaction at the server holds notifications back.
    public func nextNotification(deadline: ContinuousClock.Instant) async throws -> PostgresNotification? {
        guard case .notification(let notification) = try await mailbox.perform(.notification(deadline: deadline)) else {
            return nil
        }
        return notification
    }

    /// An SQL identifier in quotes.
    static func quoted(_ identifier: String) -> String {
        "\"" + identifier.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
