import PostgresClient

/// Something that happened, as a consumer gets it: without tokens, addresses and texts.
package struct EventRow: Sendable, Hashable {
    /// Unique, and the same if the event is given again.
    package let id: String
    /// Its kind, such as `message.sent`.
    package let kind: String
    package let occurredAt: DatabaseTime
    package let service: String?
    package let application: String?
    package let delivery: Int64?
    /// The message's number in its delivery.
    package let sequence: Int32?
    package let subscription: Int64?
    /// The present user key of the subscription.
    package let userKey: String?
    package let reason: String?
    package let httpStatus: Int16?
    /// The new state of a delivery.
    package let state: String?
}

extension EventRow {
    /// What the columns of ``read(_:)`` are called in SQL.
    static let columns = """
        id, kind, occurred_at, service, application, delivery_id, sequence, subscription_id, user_key, reason, http_status, state
        """

    static func read(_ row: inout RowReader) throws -> EventRow {
        EventRow(
            id: try row.text(),
            kind: try row.text(),
            occurredAt: try row.time(),
            service: try row.textOrNil(),
            application: try row.textOrNil(),
            delivery: try row.int64OrNil(),
            sequence: try row.int32OrNil(),
            subscription: try row.int64OrNil(),
            userKey: try row.textOrNil(),
            reason: try row.textOrNil(),
            httpStatus: try row.int16OrNil(),
            state: try row.textOrNil()
        )
    }
}
