import PostgresClient
import PushCore

extension Store {
    /// Stores what a feedback service said: the app is gone from the devices of these tokens since these times, in seconds since
    /// 1970. A registration since then outweighs it, as ``applyTokenEvents(limit:)`` finds out. Tokens that no subscription of the
    /// application has are passed over.
    ///
    /// Tokens are in lower-case hexadecimal digits; subscriptions may have either case. It is safe to repeat.
    ///
    /// - Returns: the number of subscriptions that it is about.
    @discardableResult
    public func storeFeedback(application id: Int32, tokens: [String], since: [Int64]) async throws -> Int {
        let result = try await query(Self.feedbackSQL, [.int32(id), .textArray(tokens), .int64Array(since)])
        return result.affectedRows
    }

    private static let feedbackSQL = """
        INSERT INTO pushmta_engine.token_event (application_id, subscription_id, kind, reason, since)
        SELECT s.application_id, s.id, 'invalid', 'Unregistered', to_timestamp(f.since)
        FROM unnest($2::text[], $3::bigint[]) f(token, since)
        JOIN pushmta_engine.subscription s
            ON s.application_id = $1 AND s.push_token = ANY(ARRAY[f.token, upper(f.token)]) AND s.enabled
        """
}
