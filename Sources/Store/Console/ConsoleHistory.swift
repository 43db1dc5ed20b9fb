import PostgresClient
import PushCore

/// A message to a subscription.
package struct SubscriberMessage: Sendable, Hashable {
    package let delivery: Int64
    /// The delivery's label.
    package let label: String
    /// Its number in the delivery.
    package let sequence: Int32
    /// Its status, by the database's name.
    package let status: String
    /// The gateway's status, 0 if there was none.
    package let httpStatus: Int32
    /// The gateway's text, "" if it had none.
    package let reason: String
    /// When its outcome was stored; nil while it has none.
    package let at: DatabaseTime?
    /// Whether the device reported that it received it.
    package let isReceived: Bool
    /// Whether the user clicked on it.
    package let isClicked: Bool
}

/// A page of the messages to a subscription.
package struct SubscriberHistory: Sendable, Hashable {
    /// The messages, those of the newest delivery first.
    package let messages: [SubscriberMessage]
    /// The delivery below which to continue; nil if nothing older is left.
    package let next: Int64?
    /// Whether only the newest parts of some delivery were searched.
    package let isCut: Bool
}

/// The number of quarantined subscriptions of an application, by reason.
package struct QuarantineCount: Sendable, Hashable {
    package let application: String
    /// The first words of the reason.
    package let reason: String
    /// Whether the gateway said that the token is dead; otherwise messages failed too often.
    package let isDead: Bool
    /// How many, at least.
    package let count: Int64
    /// Whether counting stopped there.
    package let isCut: Bool
}

package struct QuarantinedSubscription: Sendable, Hashable {
    package let id: Int64
    package let application: String
    /// The gateway's text.
    package let reason: String
    /// Whether the gateway said that the token is dead; otherwise messages failed too often.
    package let isDead: Bool
    package let since: DatabaseTime
    /// When it last registered.
    package let registeredAt: DatabaseTime
}

/// Where a page of the quarantine continues.
package struct QuarantinePlace: Sendable, Hashable {
    /// Subscriptions that were quarantined before this time.
    package let before: DatabaseTime
    /// Of those quarantined at this time, the ones with a lower id.
    package let below: Int64

    /// A place in the list.
    package init(before: DatabaseTime, below: Int64) {
        self.before = before
        self.below = below
    }
}

extension Store {
    /// Messages to a subscription in deliveries below an id, for a signed-in user.
    ///
    /// - Parameter limit: after this many messages no further delivery is searched.
    package func history(ofSubscription id: Int64, below: Int64 = .max, limit: Int, by actor: ConsoleActor)
        async throws -> SubscriberHistory
    {
        let result = try await query(
            """
            SELECT h.delivery, coalesce(h.label, ''), h.sequence, h.status, h.http_status, h.reason, h.at, h.received, h.clicked, h.is_cut
            FROM pushmta_engine.console_history(\(ConsoleActor.caller), $5, $6, $7) h
            """,
            actor.values + [.int64(id), .int64(below), .int32(Int32(clamping: limit))]
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

    /// The number of quarantined subscriptions, by application and reason, for a signed-in user.
    ///
    /// - Parameter limit: the maximum to count for an application, newest first.
    package func quarantineCounts(limit: Int, by actor: ConsoleActor) async throws -> [QuarantineCount] {
        let result = try await query(
            """
            SELECT q.application, q.reason, q.is_dead, q.n, q.is_cut
            FROM pushmta_engine.console_quarantine(\(ConsoleActor.caller), $5) q
            """,
            actor.values + [.int32(Int32(clamping: limit))]
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

    /// Subscriptions in quarantine, newest first, for a signed-in user.
    ///
    /// - Parameter place: where to continue; nil for the newest of all.
    package func quarantined(from place: QuarantinePlace? = nil, limit: Int, by actor: ConsoleActor)
        async throws -> [QuarantinedSubscription]
    {
        let before = place.map { PostgresValue.timestamp(microsecondsSince2000: $0.before.microsecondsSince2000) }
        let result = try await query(
            """
            SELECT q.id, q.application, q.reason, q.is_dead, q.quarantined_at, q.registered_at
            FROM pushmta_engine.console_quarantined(\(ConsoleActor.caller), coalesce($5::timestamptz, 'infinity'), $6, $7) q
            """,
            actor.values + [before ?? .null, .int64(place?.below ?? .max), .int32(Int32(clamping: limit))]
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
