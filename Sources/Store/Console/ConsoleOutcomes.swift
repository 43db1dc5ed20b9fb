import PostgresClient
import PushCore

/// A message of a delivery with what became of it, as it is handed out; without its push token and its user.
public struct DeliveryOutcome: Sendable, Hashable {
    /// Its number in the delivery.
    public let sequence: Int32
    /// To which subscription it goes.
    public let subscriptionID: Int64
    /// The application's name, "" if the subscription is gone.
    public let application: String
    /// How it ended, by the name that the database has for it; `pending` if it has not.
    public let status: String
    /// The gateway's status, 0 if there was none.
    public let httpStatus: Int32
    /// The gateway's words, "" if it had none.
    public let reason: String
    /// `soft`, `hard` or `ignored`; "" if it is no failure.
    public let failureType: String
    /// The reason by Adobe Campaign's names, "" if it is no failure.
    public let failureReason: String
    /// The gateway's id, "" if it gave none.
    public let gatewayMessageID: String
    /// Which attempt the outcome is of; nil if there was none.
    public let attempt: Int32?
    /// When its outcome was stored; nil as long as it has none.
    public let loggedAt: DatabaseTime?
    /// Whether the device has received it, as far as it said so.
    public let isReceived: Bool
    /// Whether somebody has clicked on it.
    public let isClicked: Bool
}

extension Store {
    /// Puts on record that somebody who has signed in takes a delivery's outcomes away.
    ///
    /// Throws ``StoreError`` of code `notFound` if there is no such delivery, `conflict` if its outcomes are gone by their age.
    ///
    /// - Returns: the highest number of its messages.
    public func beginOutcomes(ofDelivery id: Int64, by actor: ConsoleActor) async throws -> Int32 {
        try await query(
            "SELECT pushmta_engine.console_begin_outcomes($1, \(Self.momentAndIdle), $4, $5)",
            actor.values + [.text(actor.address), .int64(id)]
        ).one { try $0.int32() }
    }

    /// Messages of a delivery with numbers in a range, for somebody who has signed in and may take them away.
    public func outcomes(ofDelivery id: Int64, numbers: ClosedRange<Int32>, by actor: ConsoleActor)
        async throws -> [DeliveryOutcome]
    {
        let result = try await query(
            """
            SELECT o.sequence, o.subscription_id, o.application, o.status, o.http_status, o.reason, o.failure_type, o.failure_reason,
                o.gateway_message_id, o.attempt, o.logged_at, o.received, o.clicked
            FROM pushmta_engine.console_outcomes($1, \(Self.momentAndIdle), $4, $5, $6) o ORDER BY o.sequence
            """,
            actor.values + [.int64(id), .int32(numbers.lowerBound), .int32(numbers.upperBound)]
        )
        return try all(result) { row in
            DeliveryOutcome(
                sequence: try row.int32(),
                subscriptionID: try row.int64(),
                application: try row.text(),
                status: try row.text(),
                httpStatus: try row.int32(),
                reason: try row.text(),
                failureType: try row.text(),
                failureReason: try row.text(),
                gatewayMessageID: try row.text(),
                attempt: try row.int32OrNil(),
                loggedAt: try row.timeOrNil(),
                isReceived: try row.bool(),
                isClicked: try row.bool()
            )
        }
    }
}

/// Which messages of a delivery a list shows.
public struct MessageFilter: Sendable, Hashable {
    /// Those that ended in this way; nil for all.
    public var status: MessageStatus?
    /// Those that did for this reason, word for word; "" for any. It says nothing without a status.
    public var reason: String
    /// Those with a lower number.
    public var below: Int32

    public init(status: MessageStatus? = nil, reason: String = "", below: Int32 = .max) {
        self.status = status
        self.reason = reason
        self.below = below
    }
}

/// A message of a delivery as pages list it.
public struct ListedMessage: Sendable, Hashable {
    /// Its number in the delivery.
    public let sequence: Int32
    /// To which subscription it goes.
    public let subscriptionID: Int64
    /// The application's name, "" if the subscription is gone.
    public let application: String
    /// How it ended, by the name that the database has for it; `pending` if it has not.
    public let status: String
    /// The gateway's status, 0 if there was none.
    public let httpStatus: Int32
    /// The reason, "" if there is none.
    public let reason: String
    /// Which attempt the outcome is of; nil if there was none.
    public let attempt: Int32?
    /// When its outcome was stored; nil as long as it has none.
    public let loggedAt: DatabaseTime?
    /// Whether the device has received it, as far as it said so.
    public let isReceived: Bool
    /// Whether somebody has clicked on it.
    public let isClicked: Bool
}

extension Store {
    /// Messages of a delivery, the highest number first, for somebody who has signed in; as far as a page may take.
    ///
    /// - Returns: the messages, and below which number to look on; nil if nothing is left.
    public func messages(ofDelivery id: Int64, _ filter: MessageFilter, most: Int, by actor: ConsoleActor)
        async throws -> (rows: [ListedMessage], next: Int32?)
    {
        let result = try await query(
            """
            SELECT m.sequence, m.subscription_id, m.application, m.status, m.http_status, m.reason, m.attempt, m.logged_at, m.received,
                m.clicked, m.next
            FROM pushmta_engine.console_messages($1, \(Self.momentAndIdle), $4, $5::smallint, $6, $7, $8) m
            """,
            actor.values + [
                .int64(id), filter.status.map { .int16($0.rawValue) } ?? .null, .text(filter.reason),
                .int32(filter.below), .int32(Int32(clamping: most)),
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
