import PostgresClient
import PushCore

/// A feedback service that a worker has claimed: of an application's binary gateway.
public struct FeedbackReading: Sendable, Hashable {
    /// The application whose tokens the service names.
    public var applicationID: Int32
    /// The external account whose gateway it belongs to.
    public var accountID: Int32

    public init(applicationID: Int32, accountID: Int32) {
        self.applicationID = applicationID
        self.accountID = accountID
    }
}

/// A feedback service as operators see it.
public struct FeedbackServiceRow: Sendable, Hashable {
    public var application: String
    /// The external account of its binary gateway.
    public var account: String
    /// When a reading came to its end last; nil if none did yet.
    public var endedAt: DatabaseTime?
    /// Tokens that it has named in all.
    public var tokens: Int64
    /// What went wrong with the last reading, "" if nothing did.
    public var trouble: String
}

extension Store {
    /// Nobody else reads a service for so long after it was claimed or something of it was stored; then its reader is dead.
    public static let feedbackReadingLeaseSeconds = 300

    /// Claims services that are due, as the worker that acts; none for any other one.
    ///
    /// - Parameter periodSeconds: the time between two readings of a service.
    public func claimFeedbackReadings(worker: String, limit: Int, periodSeconds: Int) async throws -> [FeedbackReading]
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

    /// Stores what a service said, see ``storeFeedback(application:tokens:since:)``, and renews the claim. It asks not who acts: the
    /// service has forgotten what it told, so that it is stored whoever has read it.
    @discardableResult
    public func storeFeedback(_ reading: FeedbackReading, tokens: [String], since: [Int64]) async throws -> Int {
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

    /// Notes the end of a reading.
    ///
    /// - Parameters:
    ///   - trouble: what went wrong, "" if nothing did.
    ///   - pauseSeconds: the time until it is read again.
    public func endFeedbackReading(_ reading: FeedbackReading, trouble: String, pauseSeconds: Int) async throws {
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
    public func feedbackServices() async throws -> [FeedbackServiceRow] {
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
    /// Stores what a feedback service said: the app is gone from the devices of these tokens since these times, in seconds since
    /// 1970. A registration since then outweighs it, as ``applyTokenEvents(limit:)`` finds out. Tokens that no subscription of the
    /// application has are passed over.
    ///
    /// A time to come counts as now: it must not outweigh a registration that is to come as well. With a time that nobody can believe
    /// a token is passed over.
    ///
    /// Tokens are in lower-case hexadecimal digits; subscriptions may have either case. It is safe to repeat.
    ///
    /// - Returns: the number of subscriptions that it is about.
    @discardableResult
    public func storeFeedback(application id: Int32, tokens: [String], since: [Int64]) async throws -> Int {
        let credible = zip(tokens, since).filter { _, since in
            // Within the bounds of milliseconds it can be multiplied.
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
