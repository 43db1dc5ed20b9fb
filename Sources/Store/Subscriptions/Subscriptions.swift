import PostgresClient
import PushCore

/// A subscription as the view shows it; the token is for the operator who asked, not for logs.
package struct SubscriptionRow: Sendable {
    /// Its id, never reused.
    package let id: Int64
    package let application: String
    /// The token at the gateway.
    package let pushToken: String
    /// The user it belongs to; "" if the app did not say.
    package let userKey: String
    /// Whether deliveries include it.
    package let enabled: Bool
    /// Why deliveries leave it out, "" if they do not.
    package let disabledReason: String
    /// `valid`, `with_errors`, `quarantine` or `denylisted`.
    package let quarantineStatus: String
    /// Fields of the recipient, a JSON object.
    package let recipient: String
    /// Parameters of the subscription, a JSON object.
    package let parameters: String
    /// When the device last registered.
    package let registeredAt: DatabaseTime
}

extension Store {
    /// Subscriptions of an application, of a service, or of all, newest first.
    package func subscriptions(
        application: String? = nil,
        service: String? = nil,
        limit: Int = 100
    ) async throws -> [SubscriptionRow] {
        let result = try await query(
            """
            SELECT s.id, s.application, t.push_token, s.user_key, s.enabled, s.disabled_reason, s.quarantine_status,
                s.recipient::text, s.parameters::text, s.registered_at
            FROM pushmta.subscription s JOIN pushmta.subscription_token t ON t.id = s.id
            WHERE ($1::text IS NULL OR s.application = $1) AND ($2::text IS NULL OR s.service = $2)
            ORDER BY s.id DESC LIMIT $3
            """,
            [.textOrNull(application), .textOrNull(service), .int64(Int64(limit))]
        )
        return try all(result) { row in
            SubscriptionRow(
                id: try row.int64(),
                application: try row.text(),
                pushToken: try row.text(),
                userKey: try row.text(),
                enabled: try row.bool(),
                disabledReason: try row.text(),
                quarantineStatus: try row.text(),
                recipient: try row.text(),
                parameters: try row.text(),
                registeredAt: try row.time()
            )
        }
    }

    /// The number of subscriptions of an application.
    package func subscriptionCount(application: String) async throws -> Int64 {
        try await query(
            """
            SELECT count(*) FROM pushmta_engine.subscription s JOIN pushmta_engine.application a ON a.id = s.application_id
            WHERE a.name = $1
            """,
            [.text(application)]
        ).one { try $0.int64() }
    }

    /// Creates simulated subscriptions with random tokens and the recipient fields `firstName` and `city`, for benches
    /// and the quick start.
    ///
    /// - Parameter progress: called with the number created after each 100,000.
    package func seedSubscriptions(
        application name: String,
        count: Int64,
        progress: @Sendable (Int64) -> Void = { _ in }
    ) async throws {
        let application = try await application(named: name)
        let token =
            switch application.platform {
            case .ios: "encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'hex')"
            case .android: Self.androidTokenSQL
            }
        var made: Int64 = 0
        while made < count {
            let through = min(count, made + Self.seedBatch)
            try await query(
                Self.seedSQL(token: token),
                [.int32(application.id), .int64(made + 1), .int64(through), .text(name)]
            )
            made = through
            progress(made)
        }
        // Preparation reads only the index if the pages are marked all-visible.
        _ = try await with {
            try await $0.execute(PostgresStatement("VACUUM (ANALYZE) pushmta_engine.subscription", prepare: false))
        }
    }

    private static let seedBatch: Int64 = 100_000

    /// The form of FCM tokens: 22 characters, a colon, `APA91b` and 134 characters of base64url.
    private static let androidTokenSQL = """
        left(translate(encode(uuid_send(gen_random_uuid()), 'base64'), '+/=', '-_'), 22) || ':APA91b'
            || left(translate(encode(decode(repeat(replace(gen_random_uuid()::text, '-', ''), 4)
                || replace(gen_random_uuid()::text, '-', '') || replace(gen_random_uuid()::text, '-', '') || '0102030405', 'hex'),
                'base64'), E'+/=\\n', '-_'), 134)
        """

    private static func seedSQL(token: String) -> String {
        """
        INSERT INTO pushmta_engine.subscription (application_id, push_token, user_key, locale, recipient)
        SELECT $1, \(token), $4 || '-' || g, 'en', jsonb_build_object(
            'firstName', (ARRAY['Ada', 'Boris', 'Chloé', 'Dinh', 'Émile', 'Fatima', 'Grace', 'Søren'])[1 + g % 8],
            'city', (ARRAY['Lyon', 'Köln', 'Porto', 'Kraków', 'Gent', 'Malmö', 'Oslo'])[1 + g % 7])
        FROM generate_series($2::bigint, $3::bigint) g
        """
    }
}
