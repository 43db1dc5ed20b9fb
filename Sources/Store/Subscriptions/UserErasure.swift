import PostgresClient

/// How much of a user the database had.
public struct ForgottenUser: Sendable, Hashable {
    /// Subscriptions that were emptied.
    public let subscriptions: Int64
    /// Rows of lists of targets, with their variables.
    public let targets: Int64
    /// Entries of exclusion lists, and exclusions of single deliveries.
    public let exclusions: Int64
    public let seeds: Int64

    /// So many rows of each kind.
    public init(subscriptions: Int64 = 0, targets: Int64 = 0, exclusions: Int64 = 0, seeds: Int64 = 0) {
        self.subscriptions = subscriptions
        self.targets = targets
        self.exclusions = exclusions
        self.seeds = seeds
    }

    public var isNothing: Bool { subscriptions + targets + exclusions + seeds == 0 }
}

extension Store {
    /// Forgets the user of a service, for good: what the database has of the person goes now, and out of the logs with
    /// ``cleanForgottenLogs(worker:limit:)``.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such service; a user whom nobody knows is none.
    public func forgetUser(service: String, userKey: String) async throws -> ForgottenUser {
        let result = try await query(
            "SELECT f.subscriptions, f.targets, f.exclusions, f.seeds FROM pushmta.forget_user($1, $2) f",
            [.text(service), .text(userKey)]
        )
        return try result.one(Self.forgottenUser)
    }

    static func forgottenUser(_ row: inout RowReader) throws -> ForgottenUser {
        ForgottenUser(
            subscriptions: try row.int64(),
            targets: try row.int64(),
            exclusions: try row.int64(),
            seeds: try row.int64()
        )
    }

    /// Takes what is left of up to so many forgotten subscriptions out of one day's logs, as the worker that acts. It begins a minute
    /// after they were forgotten, when what was under way is over.
    ///
    /// - Returns: how many subscriptions it was for, 0 when nothing is left; nil if another worker acts.
    public func cleanForgottenLogs(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.clean_forgotten_logs($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Deletes notes of forgotten subscriptions whose messages are all of days that are gone, as the worker that acts.
    ///
    /// - Returns: how many; nil if another worker acts.
    public func purgeForgotten(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.purge_forgotten($2)", worker, [.int32(Int32(clamping: limit))])
    }
}
