import PostgresClient
import PushCore

extension Store {
    /// What becomes of a delivery in preparation after an error of `prepareChunk`.
    public func verdict(on error: any Error, of job: PreparationJob) -> PreparationVerdict {
        PreparationVerdict(error, target: job.target)
    }

    /// Puts the preparation of a delivery off, for any host to go on with: 5 s, doubling to a minute each time until a chunk is made.
    /// The delivery shows the reason meanwhile.
    ///
    /// Another transaction that has locked the delivery is not waited for: then the next attempt comes at once.
    public func postponePreparation(_ id: Int64, reason: String) async throws {
        try await query(
            Self.postponeSQL(
                more: """
                    wait_failures = least(d.wait_failures + 1, 100), preparing_host = '',
                        wait_until = now() + \(LoadProblem.wait(after: "d.wait_failures"))
                    """
            ),
            [.int64(id), .text(reason)]
        )
    }

    /// Shows what a delivery waits for that is passed over; looking costs next to nothing, so it is looked at again each time.
    func notePreparation(_ id: Int64, waitsFor reason: String) async throws {
        try await query(
            Self.postponeSQL(more: "wait_until = NULL", unless: "f.wait_reason = $2"),
            [.int64(id), .text(reason)]
        )
    }

    private static func postponeSQL(more: String, unless: String = "false") -> String {
        """
        UPDATE pushmta_engine.delivery d SET wait_reason = $2, \(more)
        WHERE d.id = (SELECT f.id FROM pushmta_engine.delivery f
            WHERE f.id = $1 AND f.state IN ('pending', 'preparing') AND NOT (\(unless)) FOR NO KEY UPDATE SKIP LOCKED)
        """
    }

    /// A chunk was made: nothing is waited for any more.
    static let preparesAgainSQL = """
        UPDATE pushmta_engine.delivery SET wait_reason = '', wait_failures = 0, wait_until = NULL
        WHERE id = $1 AND wait_reason <> ''
        """

    /// Whether the time has come to try a delivery again. Nobody waits longer than the longest wait: a later time stems from before
    /// a step back of the clock.
    static let isToBeTried = """
        (wait_until IS NULL OR wait_until <= now() OR wait_until > now() + \(LoadProblem.longestWait + 1) * interval '1 second')
        """
}
