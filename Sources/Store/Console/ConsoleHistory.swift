import PostgresClient
import PushCore

/// A message to a subscription.
public struct SubscriberMessage: Sendable, Hashable {
    public let delivery: Int64
    /// What people call the delivery.
    public let label: String
    /// Its number in the delivery.
    public let sequence: Int32
    /// How it ended, by the name that the database has for it.
    public let status: String
    /// The gateway's status, 0 if there was none.
    public let httpStatus: Int32
    /// The gateway's words, "" if it had none.
    public let reason: String
    /// When its outcome was stored; nil as long as it has none.
    public let at: DatabaseTime?
    /// Whether the device has received it, as far as it said so.
    public let isReceived: Bool
    /// Whether somebody has clicked on it.
    public let isClicked: Bool
}

/// A page of the messages to a subscription.
public struct SubscriberHistory: Sendable, Hashable {
    /// The messages, those of the newest delivery first.
    public let messages: [SubscriberMessage]
    /// Below which delivery to look on; nil if nothing older is left.
    public let next: Int64?
    /// Whether of some delivery only the newest parts were looked through.
    public let isCut: Bool
}

/// How many subscriptions of an application are in quarantine for a reason.
public struct QuarantineCount: Sendable, Hashable {
    public let application: String
    /// The first words of the reason.
    public let reason: String
    /// Whether the gateway said that the token is dead; else messages have failed too often.
    public let isDead: Bool
    /// How many, at least.
    public let count: Int64
    /// Whether counting was stopped there.
    public let isCut: Bool
}

public struct QuarantinedSubscription: Sendable, Hashable {
    public let id: Int64
    public let application: String
    /// The gateway's words.
    public let reason: String
    /// Whether the gateway said that the token is dead; else messages have failed too often.
    public let isDead: Bool
    public let since: DatabaseTime
    /// When it registered last.
    public let registeredAt: DatabaseTime
}

/// Where a page of the quarantine goes on.
public struct QuarantinePlace: Sendable, Hashable {
    /// Those that came into quarantine before this moment.
    public let before: DatabaseTime
    /// Of those of the same moment the ones with a lower id.
    public let below: Int64

    /// A place in the list.
    public init(before: DatabaseTime, below: Int64) {
        self.before = before
        self.below = below
    }
}

extension Store {
    /// Messages to a subscription in deliveries below an id, for somebody who has signed in.
    ///
    /// - Parameter most: after so many messages no other delivery is looked into.
    public func history(ofSubscription id: Int64, below: Int64 = .max, most: Int, by actor: ConsoleActor)
        async throws -> SubscriberHistory
    {
        let result = try await query(
            """
            SELECT h.delivery, coalesce(h.label, ''), h.sequence, h.status, h.http_status, h.reason, h.at, h.received, h.clicked, h.is_cut
            FROM pushmta_engine.console_history($1, \(Self.momentAndIdle), $4, $5, $6) h
            """,
            actor.values + [.int64(id), .int64(below), .int32(Int32(clamping: most))]
        )
        var messages: [SubscriberMessage] = []
        var next: Int64?
        var isCut = false
        try result.each { row in
            let (delivery, label) = (try row.int64(), try row.text())
            let message = try row.ifPresent(7) { row in
                SubscriberMessage(
                    delivery: delivery,
                    label: label,
                    sequence: try row.int32(),
                    status: try row.text(),
                    httpStatus: try row.int32(),
                    reason: try row.text(),
                    at: try row.timeOrNil(),
                    isReceived: try row.bool(),
                    isClicked: try row.bool()
                )
            }
            isCut = try row.bool()
            if let message { messages.append(message) } else { next = delivery }
        }
        return SubscriberHistory(messages: messages, next: next, isCut: isCut)
    }

    /// How many subscriptions are in quarantine, by application and reason, for somebody who has signed in.
    ///
    /// - Parameter most: so many of an application are counted, the newest.
    public func quarantineCounts(most: Int, by actor: ConsoleActor) async throws -> [QuarantineCount] {
        let result = try await query(
            """
            SELECT q.application, q.reason, q.is_dead, q.n, q.is_cut
            FROM pushmta_engine.console_quarantine($1, \(Self.momentAndIdle), $4) q
            """,
            actor.values + [.int32(Int32(clamping: most))]
        )
        return try all(result) { row in
            QuarantineCount(
                application: try row.text(),
                reason: try row.text(),
                isDead: try row.bool(),
                count: try row.int64(),
                isCut: try row.bool()
            )
        }
    }

    /// Subscriptions in quarantine, the newest first, for somebody who has signed in.
    ///
    /// - Parameter place: where to go on; nil for the newest of all.
    public func quarantined(from place: QuarantinePlace? = nil, most: Int, by actor: ConsoleActor)
        async throws -> [QuarantinedSubscription]
    {
        let before = place.map { PostgresValue.timestamp(microsecondsSince2000: $0.before.microsecondsSince2000) }
        let result = try await query(
            """
            SELECT q.id, q.application, q.reason, q.is_dead, q.quarantined_at, q.registered_at
            FROM pushmta_engine.console_quarantined($1, \(Self.momentAndIdle), coalesce($4::timestamptz, 'infinity'), $5, $6) q
            """,
            actor.values + [before ?? .null, .int64(place?.below ?? .max), .int32(Int32(clamping: most))]
        )
        return try all(result) { row in
            QuarantinedSubscription(
                id: try row.int64(),
                application: try row.text(),
                reason: try row.text(),
                isDead: try row.bool(),
                since: try row.time(),
                registeredAt: try row.time()
            )
        }
    }
}
