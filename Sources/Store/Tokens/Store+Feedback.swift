import PostgresClient
import PushCore

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
