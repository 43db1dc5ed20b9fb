import PostgresClient
import PushCore

/// A subscription that was looked up, without its push token.
package struct FoundSubscriber: Sendable, Hashable {
    package let id: Int64
    package let application: String
    package let platform: String
    /// The user key, masked for users who may not see it; "" if unknown.
    package let userKey: String
    /// Language tag, "" if unknown.
    package let locale: String
    /// When it first registered.
    package let createdAt: DatabaseTime
    /// When it last registered.
    package let registeredAt: DatabaseTime
    /// Why nothing is sent to it, "" if messages are sent.
    package let exclusion: String
}

/// What may be done to a subscription.
package enum SubscriberAction: String, Sendable, CaseIterable {
    /// The person wants no messages.
    case optOut = "opt_out"
    /// The person wants no messages from any application of the service.
    case optOutAll = "opt_out_all"
    /// The person wants messages again.
    case optIn = "opt_in"
    /// The person wants messages again from all applications of the service.
    case optInAll = "opt_in_all"
    /// The gateways' reports about its push token were a mistake.
    case lift
}

extension Store {
    /// Looks up subscriptions for a signed-in user, and logs that.
    ///
    /// - Parameter service: the name of the service whose subscriptions are searched; "" for all.
    package func findSubscribers(
        _ key: SubscriberKey,
        _ text: String,
        service: String = "",
        limit: Int,
        by actor: ConsoleActor
    ) async throws -> [FoundSubscriber] {
        let result = try await query(
            """
            SELECT \(Self.foundColumns) FROM pushmta_engine.console_find_people(\(ConsoleActor.caller), $5, $6, $7, $8) f
            ORDER BY f.registered_at DESC, f.id DESC
            """,
            actor.values + [
                .text(key.rawValue), .text(text), .int32(Int32(clamping: limit)), .text(service),
            ]
        )
        return try all(result, Self.found)
    }

    /// The subscriptions of a service below an id, newest first, for a signed-in user. Logs the look-up.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such service.
    package func subscribers(ofService name: String, below id: Int64 = .max, limit: Int, by actor: ConsoleActor)
        async throws -> [FoundSubscriber]
    {
        let result = try await query(
            """
            SELECT \(Self.foundColumns) FROM pushmta_engine.console_service_people(\(ConsoleActor.caller), $5, $6, $7) f
            ORDER BY f.id DESC
            """,
            actor.values + [.text(name), .int64(id), .int32(Int32(clamping: limit))]
        )
        return try all(result, Self.found)
    }

    /// The sample of an audience, for a signed-in user who may compose deliveries. Logs the look-up.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such audience.
    package func sample(ofAudience name: String, ofService service: String, by actor: ConsoleActor) async throws
        -> [FoundSubscriber]
    {
        let result = try await query(
            """
            SELECT \(Self.foundColumns) FROM pushmta_engine.console_audience_sample(\(ConsoleActor.caller), $5, $6) f
            ORDER BY f.id DESC
            """,
            actor.values + [.text(service), .text(name)]
        )
        return try all(result, Self.found)
    }

    private static let foundColumns =
        "f.id, f.application, f.platform, f.user_key, f.locale, f.created_at, f.registered_at, f.exclusion"

    private static func found(_ row: inout RowReader) throws -> FoundSubscriber {
        FoundSubscriber(
            id: try row.int64(),
            application: try row.text(),
            platform: try row.text(),
            userKey: try row.text(),
            locale: try row.text(),
            createdAt: try row.time(),
            registeredAt: try row.time(),
            exclusion: try row.text()
        )
    }

    /// One subscription for a signed-in user, and logs the look-up.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none.
    package func subscriber(_ id: Int64, by actor: ConsoleActor) async throws -> Subscriber {
        let result = try await query(
            """
            SELECT s.application, s.label, s.service, s.platform, s.environment, s.user_key, s.is_masked, s.is_proven, s.locale,
                s.time_zone, s.app_version, s.device, s.created_at, s.registered_at, s.enabled, s.opted_out, s.disabled_reason,
                s.disabled_at, s.quarantine_status, s.quarantine_reason, s.quarantined_at, s.soft_errors, s.last_error_at,
                s.token_hash, s.others
            FROM pushmta_engine.console_subscriber(\(ConsoleActor.caller), $5) s
            """,
            actor.values + [.int64(id)]
        )
        return try first(result, orThrow: "There is no subscription \(id).", Self.subscriber)
    }

    private static func subscriber(_ row: inout RowReader) throws -> Subscriber {
        Subscriber(
            application: try row.text(),
            applicationLabel: try row.text(),
            service: try row.text(),
            platform: try row.text(),
            environment: try row.text(),
            userKey: try row.text(),
            isMasked: try row.bool(),
            isProven: try row.bool(),
            locale: try row.text(),
            timeZone: try row.text(),
            appVersion: try row.text(),
            device: try row.text(),
            createdAt: try row.time(),
            registeredAt: try row.time(),
            isEnabled: try row.bool(),
            isOptedOut: try row.bool(),
            disabledReason: try row.text(),
            disabledAt: try row.timeOrNil(),
            quarantine: SubscriberQuarantine(
                status: SubscriberQuarantine.Status(rawValue: try row.int32()) ?? .denylisted,
                reason: try row.text(),
                since: try row.timeOrNil(),
                softErrors: try row.int32(),
                lastErrorAt: try row.timeOrNil(),
                tokenHash: try row.text()
            ),
            others: Int(try row.int32())
        )
    }

    /// Changes a subscription for a signed-in user, and logs it in the same transaction.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it is not in quarantine.
    package func change(_ action: SubscriberAction, subscription id: Int64, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_change_subscriber(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.text(action.rawValue), .int64(id)]
        )
    }

    /// How many reports about tokens ``undoTokenEffects(ofDelivery:most:by:)`` would undo.
    ///
    /// Throws ``StoreError`` of code `notFound`.
    package func tokenEffects(ofDelivery id: Int64, by actor: ConsoleActor) async throws -> Int64 {
        let result = try await query(
            "SELECT pushmta_engine.console_token_effects(\(ConsoleActor.caller), $5)",
            actor.values + [.int64(id)]
        )
        return try result.one { try $0.int64() }
    }

    /// Undoes some of what the answers to a delivery's messages did to tokens, for a signed-in user, and logs it. Returns
    /// how many reports it undid; it has undone all if that is less than `most`.
    package func undoTokenEffects(ofDelivery id: Int64, most: Int32, by actor: ConsoleActor) async throws -> Int64 {
        let result = try await query(
            "SELECT pushmta_engine.console_undo_tokens(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.int64(id), .int32(most)]
        )
        return try result.one { try $0.int64() }
    }

    /// The time limit of forgetting: it searches the targets of all stored deliveries, which takes longer than a page.
    private static let forgettingTime = "60s"

    /// Forgets the user of a subscription in its service, for a signed-in administrator, and logs that it was done.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such subscription, `invalid` if it has no user.
    package func forget(userOf id: Int64, by actor: ConsoleActor) async throws -> ForgottenUser {
        let results = try await group([
            PostgresStatement("SELECT set_config('statement_timeout', $1, true)", [.text(Self.forgettingTime)]),
            PostgresStatement(
                """
                SELECT f.subscriptions, f.targets, f.exclusions, f.seeds
                FROM pushmta_engine.console_forget(\(ConsoleActor.caller), $5) f
                """,
                actor.values + [.int64(id)]
            ),
        ])
        guard let rows = results.last else { throw StoreError(.unexpectedAnswer, "Forgetting had no answer.") }
        return try rows.one(Self.forgottenUser)
    }

    /// Ends the quarantine of one device.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it is not in quarantine or if another
    /// device now has its token.
    package func liftQuarantine(_ id: Int64) async throws {
        try await breakingCircles("SELECT pushmta.lift_quarantine($1)", [.int64(id)])
    }
}
