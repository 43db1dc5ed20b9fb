extension PostgresConnection {
    /// Runs the closure in a transaction that has the connection to itself: COMMIT when it returns, ROLLBACK when it
    /// throws.
    ///
    /// A COMMIT that the server turned into a rollback (the closure swallowed an error) throws SQLSTATE 25P02. When the
    /// connection is lost during COMMIT nobody knows whether it happened: the error's `isConnectionLost` is true. Inside,
    /// use only the transaction: awaiting the connection itself would wait for ever.
    public func transaction<T: Sendable>(
        _ mode: PostgresTransactionMode = .readCommitted,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (PostgresTransaction) async throws -> T
    ) async throws -> T {
        let session = mailbox.newSession()
        _ = try await mailbox.perform(.open([PostgresStatement(mode.begin, prepare: false)]), session: session)
        let value: T
        do {
            value = try await body(PostgresTransaction(connection: self, session: session))
        } catch {
            // The first error is the one to report; a lost connection rolls back by itself.
            let rollback = Request.Work.close([PostgresStatement("ROLLBACK", prepare: false)])
            _ = try? await mailbox.performUncancelled(rollback, session: session)
            throw error
        }
        let commit = Request.Work.close([PostgresStatement("COMMIT", prepare: false)])
        if case .results(let results) = try await mailbox.performUncancelled(commit, session: session),
            results.last?.commandTag == "ROLLBACK"
        {
            throw PostgresError(
                code: .sqlState("25P02"),
                message: "the transaction was rolled back at COMMIT, because one of its statements had failed"
            )
        }
        return value
    }
}
