import PostgresClient
import PushCore

/// By what a subscriber is looked up.
public enum SubscriberKey: String, Sendable, CaseIterable {
    case userKey = "user_key"
    case subscription
    /// Its push token, which is not recorded.
    case pushToken = "push_token"
}

/// A subscription that was looked up, without its push token.
public struct FoundSubscriber: Sendable, Hashable {
    public let id: Int64
    public let application: String
    public let platform: String
    /// Whose it is, shortened for those who may not see it; "" if nobody knows.
    public let userKey: String
    /// Language tag, "" if unknown.
    public let locale: String
    /// When it registered first.
    public let createdAt: DatabaseTime
    /// When it registered last.
    public let registeredAt: DatabaseTime
    /// Why nothing is sent to it, "" if it is.
    public let exclusion: String
}

/// A subscription as the console shows it, without its push token.
public struct Subscriber: Sendable, Hashable {
    public let application: String
    /// What people call the application.
    public let applicationLabel: String
    /// The service of the application.
    public let service: String
    public let platform: String
    /// `production` or `sandbox`.
    public let environment: String
    /// Whose it is, shortened for those who may not see it; "" if nobody knows.
    public let userKey: String
    /// Whether the user key is shortened.
    public let isMasked: Bool
    /// Whether somebody else than the device says whose it is.
    public let isProven: Bool
    /// Language tag, "" if unknown.
    public let locale: String
    /// Time zone, "" if unknown.
    public let timeZone: String
    /// The app's version, "" if unknown.
    public let appVersion: String
    /// Model and operating system of the device, "" if unknown.
    public let device: String
    public let createdAt: DatabaseTime
    public let registeredAt: DatabaseTime
    /// Whether deliveries include it, as far as nothing else speaks against it.
    public let isEnabled: Bool
    /// Whether the person wants no messages.
    public let isOptedOut: Bool
    /// Why it is disabled, "" if it is not.
    public let disabledReason: String
    public let disabledAt: DatabaseTime?
    /// Whether messages to it may fail, and since when.
    public let quarantine: SubscriberQuarantine
    /// Other subscriptions of the same user, counted up to 100.
    public let others: Int
}

/// What gateways have said of a subscription's push token.
public struct SubscriberQuarantine: Sendable, Hashable {
    /// How far it has come.
    public enum Status: Int32, Sendable {
        /// Nothing speaks against it.
        case valid = 0
        /// Some messages have failed for reasons that may pass.
        case withErrors
        /// Nothing is sent to it.
        case quarantine
        /// Nothing is ever sent to it.
        case denylisted
    }

    /// How far it has come.
    public let status: Status
    /// The gateway's words.
    public let reason: String
    /// When it came into quarantine.
    public let since: DatabaseTime?
    /// Soft errors since the last success or healing period.
    public let softErrors: Int32
    /// When the last of them was.
    public let lastErrorAt: DatabaseTime?
    /// SHA-256 of the push token that they have said it of, in hexadecimal; "" if there is none any more.
    public let tokenHash: String
}

/// What may be done to a subscription.
public enum SubscriberAction: String, Sendable, CaseIterable {
    /// The person wants no messages.
    case optOut = "opt_out"
    /// The person wants no messages from any application of the service.
    case optOutAll = "opt_out_all"
    /// The person wants messages again.
    case optIn = "opt_in"
    /// The person wants messages again from all applications of the service.
    case optInAll = "opt_in_all"
    /// What gateways said of its push token was a mistake.
    case lift
}

extension Store {
    /// Looks subscriptions up for somebody who has signed in; it is on record.
    ///
    /// - Parameter service: the name of the service whose subscriptions are looked through; "" for all.
    public func findSubscribers(
        _ key: SubscriberKey,
        _ text: String,
        service: String = "",
        most: Int,
        by actor: ConsoleActor
    ) async throws -> [FoundSubscriber] {
        let result = try await query(
            """
            SELECT \(Self.foundColumns) FROM pushmta_engine.console_find_people($1, \(Self.momentAndIdle), $4, $5, $6, $7, $8) f
            ORDER BY f.registered_at DESC, f.id DESC
            """,
            actor.values + [
                .text(actor.address), .text(key.rawValue), .text(text), .int32(Int32(clamping: most)), .text(service),
            ]
        )
        return try all(result, Self.found)
    }

    /// The subscriptions of a service below an id, the newest first, for somebody who has signed in; it is on record.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such service.
    public func subscribers(ofService name: String, below id: Int64 = .max, most: Int, by actor: ConsoleActor)
        async throws -> [FoundSubscriber]
    {
        let result = try await query(
            """
            SELECT \(Self.foundColumns) FROM pushmta_engine.console_service_people($1, \(Self.momentAndIdle), $4, $5, $6, $7) f
            ORDER BY f.id DESC
            """,
            actor.values + [.text(actor.address), .text(name), .int64(id), .int32(Int32(clamping: most))]
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

    /// One subscription for somebody who has signed in; it is on record who looked.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none.
    public func subscriber(_ id: Int64, by actor: ConsoleActor) async throws -> Subscriber {
        let result = try await query(
            """
            SELECT s.application, s.label, s.service, s.platform, s.environment, s.user_key, s.is_masked, s.is_proven, s.locale,
                s.time_zone, s.app_version, s.device, s.created_at, s.registered_at, s.enabled, s.opted_out, s.disabled_reason,
                s.disabled_at, s.quarantine_status, s.quarantine_reason, s.quarantined_at, s.soft_errors, s.last_error_at,
                s.token_hash, s.others
            FROM pushmta_engine.console_subscriber($1, \(Self.momentAndIdle), $4, $5) s
            """,
            actor.values + [.text(actor.address), .int64(id)]
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

    /// Changes a subscription for somebody who has signed in; it is on record in the same transaction.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it is in no quarantine to be lifted.
    public func change(_ action: SubscriberAction, subscription id: Int64, by actor: ConsoleActor) async throws {
        try await breakingCircles(
            "SELECT pushmta_engine.console_change_subscriber($1, \(Self.momentAndIdle), $4, $5, $6)",
            actor.values + [.text(actor.address), .text(action.rawValue), .int64(id)]
        )
    }

    /// How long forgetting may take: it looks into the targets of all deliveries that are kept, which takes longer than a page.
    private static let forgettingTime = "60s"

    /// Forgets the user of a subscription in its service, for an administrator who has signed in; that it was done is on record.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such subscription, `invalid` if it is nobody's.
    public func forget(userOf id: Int64, by actor: ConsoleActor) async throws -> ForgottenUser {
        let results = try await group([
            PostgresStatement("SELECT set_config('statement_timeout', $1, true)", [.text(Self.forgettingTime)]),
            PostgresStatement(
                """
                SELECT f.subscriptions, f.targets, f.exclusions, f.seeds
                FROM pushmta_engine.console_forget($1, \(Self.momentAndIdle), $4, $5) f
                """,
                actor.values + [.text(actor.address), .int64(id)]
            ),
        ])
        guard let rows = results.last else { throw StoreError(.unexpectedAnswer, "Forgetting had no answer.") }
        return try rows.one(Self.forgottenUser)
    }

    /// Takes one device out of quarantine.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is none, `conflict` if it is not in quarantine or its token is another one's by now.
    public func liftQuarantine(_ id: Int64) async throws {
        try await breakingCircles("SELECT pushmta.lift_quarantine($1)", [.int64(id)])
    }
}
