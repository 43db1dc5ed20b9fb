import PostgresClient
import PushCore

/// A message of a delivery with its outcome, as it is exported.
package struct DeliveryOutcome: Sendable, Hashable {
    package let row: OutcomeRow
    /// The application's name, "" if the subscription is gone.
    package let application: String
}

extension Store {
    /// Logs that a signed-in user exports a delivery's outcomes.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such delivery, `conflict` if its outcomes were deleted
    /// at the end of their retention.
    ///
    /// - Returns: the highest number of its messages.
    package func beginOutcomes(ofDelivery id: Int64, by actor: ConsoleActor) async throws -> Int32 {
        try await query(
            "SELECT pushmta_engine.console_begin_outcomes(\(ConsoleActor.caller), $5)",
            actor.values + [.int64(id)]
        ).one { try $0.int32() }
    }

    /// The lowest number from this one on that a message of a delivery may have, for a signed-in user who may export its
    /// outcomes; nil if there is none.
    package func nextNumber(ofDelivery id: Int64, from number: Int32, by actor: ConsoleActor) async throws -> Int32? {
        try await query(
            "SELECT pushmta_engine.console_next_number(\(ConsoleActor.caller), $5, $6)",
            actor.values + [.int64(id), .int32(number)]
        ).one { try $0.int32OrNil() }
    }

    /// Messages of a delivery with numbers in a range, for a signed-in user who may export them.
    package func outcomes(ofDelivery id: Int64, numbers: ClosedRange<Int32>, by actor: ConsoleActor)
        async throws -> [DeliveryOutcome]
    {
        let result = try await query(
            """
            SELECT o.sequence, o.subscription_id, o.status, o.http_status, o.reason, nullif(o.failure_type, ''),
                nullif(o.failure_reason, ''), nullif(o.gateway_message_id, ''), o.attempt, o.logged_at, o.received, o.clicked,
                o.application
            FROM pushmta_engine.console_outcomes(\(ConsoleActor.caller), $5, $6, $7) o ORDER BY o.sequence
            """,
            actor.values + [.int64(id), .int32(numbers.lowerBound), .int32(numbers.upperBound)]
        )
        return try all(result) { row in
            DeliveryOutcome(row: try Self.outcomeRow(&row), application: try row.text())
        }
    }
}

/// Selects the messages of a delivery that a list shows.
package struct MessageFilter: Sendable, Hashable {
    /// Messages with this status; nil for all.
    package var status: MessageStatus?
    /// Messages with this reason, verbatim; "" for any. Ignored without a status.
    package var reason: String
    /// Messages with a lower number.
    package var below: Int32

    package init(status: MessageStatus? = nil, reason: String = "", below: Int32 = .max) {
        self.status = status
        self.reason = reason
        self.below = below
    }
}

/// A message of a delivery as pages list it.
package struct ListedMessage: Sendable, Hashable {
    /// Its number in the delivery.
    package let sequence: Int32
    /// The subscription that it goes to.
    package let subscriptionID: Int64
    /// The application's name, "" if the subscription is gone.
    package let application: String
    /// Its status, by the database's name; `pending` if it has not ended.
    package let status: String
    /// The gateway's status, 0 if there was none.
    package let httpStatus: Int32
    /// The reason, "" if there is none.
    package let reason: String
    /// The attempt of the outcome; nil if there was none.
    package let attempt: Int32?
    /// When its outcome was stored; nil while it has none.
    package let loggedAt: DatabaseTime?
    /// Whether the device reported that it received it.
    package let isReceived: Bool
    /// Whether the user clicked on it.
    package let isClicked: Bool
}

extension Store {
    /// Messages of a delivery, highest number first, for a signed-in user. It searches within the time for a page.
    ///
    /// - Returns: the messages, and the number below which to continue; nil if nothing is left.
    package func messages(ofDelivery id: Int64, _ filter: MessageFilter, limit: Int, by actor: ConsoleActor)
        async throws -> (rows: [ListedMessage], next: Int32?)
    {
        let result = try await query(
            """
            SELECT m.sequence, m.subscription_id, m.application, m.status, m.http_status, m.reason, m.attempt, m.logged_at, m.received,
                m.clicked, m.next
            FROM pushmta_engine.console_messages(\(ConsoleActor.caller), $5, $6::smallint, $7, $8, $9) m
            """,
            actor.values + [
                .int64(id), filter.status.map { .int16($0.rawValue) } ?? .null, .text(filter.reason),
                .int32(filter.below), .int32(Int32(clamping: limit)),
            ]
        )
        var page: (rows: [ListedMessage], next: Int32?) = ([], nil)
        try result.each { row in
            let message = try row.ifPresent(10, Self.listedMessage)
            let next = try row.int32OrNil()
            if let message { page.rows.append(message) } else { page.next = next }
        }
        return page
    }

    private static func listedMessage(_ row: inout RowReader) throws -> ListedMessage {
        ListedMessage(
            sequence: try row.int32(),
            subscriptionID: try row.int64(),
            application: try row.text(),
            status: try row.text(),
            httpStatus: try row.int32(),
            reason: try row.text(),
            attempt: try row.int32OrNil(),
            loggedAt: try row.timeOrNil(),
            isReceived: try row.bool(),
            isClicked: try row.bool()
        )
    }
}
