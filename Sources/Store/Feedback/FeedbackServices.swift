import PostgresClient
import PushCore

/// The claim of a feedback service: that of an application's binary gateway.
package struct FeedbackReading: Sendable, Hashable {
    /// The application whose tokens the service names.
    package var applicationID: Int32
    /// The external account whose gateway it belongs to.
    package var accountID: Int32

    package init(applicationID: Int32, accountID: Int32) {
        self.applicationID = applicationID
        self.accountID = accountID
    }
}

/// A feedback service as operators see it.
package struct FeedbackServiceRow: Sendable, Hashable {
    package var application: String
    /// The external account of its binary gateway.
    package var account: String
    /// The end of the last completed reading; nil if there was none yet.
    package var endedAt: DatabaseTime?
    /// Tokens that it has named in total.
    package var tokens: Int64
    /// What went wrong in the last reading, "" if nothing did.
    package var trouble: String
}

extension Store {
    /// The lease of a reader: no other reads a service until this long after it was claimed or something from it was
    /// stored; then its reader is dead.
    package static let feedbackReadingLeaseSeconds = 300

    /// Claims due services for the active worker; none for others.
    ///
    /// - Parameter periodSeconds: the time between two readings of a service.
    package func claimFeedbackReadings(worker: String, limit: Int, periodSeconds: Int) async throws -> [FeedbackReading]
    {
        let result = try await query(
            """
            SELECT application_id, external_account_id FROM pushmta_engine.claim_feedback_readings($1::uuid, $2,
                $3 * interval '1 second', $4 * interval '1 second')
            """,
            [
                .text(worker), .int32(Int32(clamping: limit)), .int32(Int32(clamping: periodSeconds)),
                .int32(Int32(Self.feedbackReadingLeaseSeconds)),
            ]
        )
        return try all(result) { row in
            FeedbackReading(applicationID: try row.int32(), accountID: try row.int32())
        }
    }

    /// Stores what a service reported, see ``storeFeedback(application:tokens:since:)``, and renews the claim. It does
    /// not check which worker is active: the service has forgotten what it reported, so it is stored whichever worker read
    /// it.
    @discardableResult
    package func storeFeedback(_ reading: FeedbackReading, tokens: [String], since: [Int64]) async throws -> Int {
        let stored = try await storeFeedback(application: reading.applicationID, tokens: tokens, since: since)
        try await query(
            """
            UPDATE pushmta_engine.feedback_reading SET tokens = tokens + $3, next_at = now() + $4 * interval '1 second'
            WHERE application_id = $1 AND external_account_id = $2
            """,
            [
                .int32(reading.applicationID), .int32(reading.accountID), .int64(Int64(tokens.count)),
                .int32(Int32(Self.feedbackReadingLeaseSeconds)),
            ]
        )
        return stored
    }

    /// Records the end of a reading.
    ///
    /// - Parameters:
    ///   - trouble: what went wrong, "" if nothing did.
    ///   - pauseSeconds: the time until the next reading.
    package func endFeedbackReading(_ reading: FeedbackReading, trouble: String, pauseSeconds: Int) async throws {
        try await query(
            """
            UPDATE pushmta_engine.feedback_reading SET trouble = $3, next_at = now() + $4 * interval '1 second',
                ended_at = CASE WHEN $3 = '' THEN now() ELSE ended_at END
            WHERE application_id = $1 AND external_account_id = $2
            """,
            [
                .int32(reading.applicationID), .int32(reading.accountID), .text(trouble),
                .int32(Int32(clamping: pauseSeconds)),
            ]
        )
    }

    /// The services of gateways that are in use and were claimed at least once.
    package func feedbackServices() async throws -> [FeedbackServiceRow] {
        let result = try await query(
            """
            SELECT application, account, ended_at, tokens, trouble FROM pushmta.feedback_service WHERE in_use
            ORDER BY application, account
            """
        )
        return try all(result) { row in
            FeedbackServiceRow(
                application: try row.text(),
                account: try row.text(),
                endedAt: try row.timeOrNil(),
                tokens: try row.int64(),
                trouble: try row.text()
            )
        }
    }
}

extension Store {
    /// Stores what a feedback service reported: the app is gone from the devices of these tokens since these times, in
    /// seconds since 1970. A later registration overrides the report, as ``applyTokenEvents(limit:)`` finds out. Tokens
    /// without a subscription of the application are ignored.
    ///
    /// A time in the future counts as now, so that it does not override a registration in the meantime. A token with an
    /// implausible time is ignored.
    ///
    /// Tokens are lower-case hexadecimal digits; subscriptions may have either case. It is safe to repeat.
    ///
    /// - Returns: the number of affected subscriptions.
    @discardableResult
    package func storeFeedback(application id: Int32, tokens: [String], since: [Int64]) async throws -> Int {
        let credible = zip(tokens, since).filter { _, since in
            // Within the range of milliseconds it can be multiplied.
            TokenEffect.credibleTime(since).flatMap { TokenEffect.credibleTime($0 * 1_000) } != nil
        }
        let result = try await query(
            Self.feedbackSQL,
            [.int32(id), .textArray(credible.map(\.0)), .int64Array(credible.map(\.1))]
        )
        return result.affectedRows
    }

    private static let feedbackSQL = """
        INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, reason, since)
        SELECT s.application_id, s.id, 'invalid', 'Unregistered', least(to_timestamp(f.since), now())
        FROM unnest($2::text[], $3::bigint[]) f(token, since)
        JOIN pushmta_engine.subscription s
            ON s.application_id = $1 AND s.push_token = ANY(ARRAY[f.token, upper(f.token)]) AND s.enabled
        """
}
