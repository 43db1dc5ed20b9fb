import PostgresClient

/// How much data the database had about a user.
package struct ForgottenUser: Sendable, Hashable {
    /// Subscriptions that were emptied.
    package let subscriptions: Int64
    /// Rows of lists of targets, with their variables.
    package let targets: Int64
    /// Entries of exclusion lists, and exclusions of single deliveries.
    package let exclusions: Int64
    package let seeds: Int64

    /// Counts of each kind.
    package init(subscriptions: Int64 = 0, targets: Int64 = 0, exclusions: Int64 = 0, seeds: Int64 = 0) {
        self.subscriptions = subscriptions
        self.targets = targets
        self.exclusions = exclusions
        self.seeds = seeds
    }

    package var isNothing: Bool { subscriptions + targets + exclusions + seeds == 0 }
}

extension Store {
    /// Forgets a user of a service permanently: the database's data about the person is removed now, and that in the
    /// logs by ``cleanForgottenLogs(worker:limit:)``.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such service; for an unknown user all counts are 0.
    package func forgetUser(service: String, userKey: String) async throws -> ForgottenUser {
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

    /// Removes what is left of at most this many forgotten subscriptions from one day's logs, as the active worker. It
    /// starts a minute after they were forgotten, when open transactions have ended.
    ///
    /// - Returns: how many subscriptions it cleaned, 0 when nothing is left; nil if another worker is active.
    package func cleanForgottenLogs(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.clean_forgotten_logs($2)", worker, [.int32(Int32(clamping: limit))])
    }

    /// Deletes the records of forgotten subscriptions if the days of all their messages are deleted, as the active
    /// worker.
    ///
    /// - Returns: how many; nil if another worker is active.
    package func purgeForgotten(worker: String, limit: Int) async throws -> Int64? {
        try await fenced("pushmta_engine.purge_forgotten($2)", worker, [.int32(Int32(clamping: limit))])
    }
}
