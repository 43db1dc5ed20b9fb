/// A message of a delivery with its present outcome; without its push token and its user.
package struct OutcomeRow: Sendable, Hashable {
    /// Its number in the delivery, from 1; it never changes.
    package let sequence: Int32
    /// The subscription that it goes to.
    package let subscriptionID: Int64
    /// Its status, by the database's name; `pending` if it has not ended.
    package let status: String
    /// The gateway's HTTP status, 0 if there was none.
    package let httpStatus: Int32
    /// The gateway's reason or PushMTA's own, "" for none.
    package let reason: String
    /// `ignored`, `soft` or `hard`; nil if it is not a failure.
    package let failureType: String?
    /// The kind of failure as text; nil if it is not a failure.
    package let failureReason: String?
    /// The gateway's id of the message.
    package let gatewayMessageID: String?
    /// The number of attempts.
    package let attempt: Int32
    /// When its outcome was stored; nil while it has none.
    package let loggedAt: DatabaseTime?
    /// Whether the device reported that it received it.
    package let isReceived: Bool
    /// Whether its user opened it.
    package let isClicked: Bool
}

extension Store {
    static func outcomeRow(_ row: inout RowReader) throws -> OutcomeRow {
        OutcomeRow(
            sequence: try row.int32(),
            subscriptionID: try row.int64(),
            status: try row.text(),
            httpStatus: try row.int32(),
            reason: try row.text(),
            failureType: try row.textOrNil(),
            failureReason: try row.textOrNil(),
            gatewayMessageID: try row.textOrNil(),
            attempt: try row.int32(),
            loggedAt: try row.timeOrNil(),
            isReceived: try row.bool(),
            isClicked: try row.bool()
        )
    }
}
