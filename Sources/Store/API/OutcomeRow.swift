import PostgresClient

/// What became of one message of a delivery so far.
public struct OutcomeRow: Sendable {
    /// Its number in the delivery, from 1; it never changes.
    public let sequence: Int32
    /// Whose message it is.
    public let subscriptionID: Int64
    /// `pending`, or how it ended.
    public let status: String
    /// The gateway's HTTP status, 0 if there was none.
    public let httpStatus: Int32
    /// The gateway's reason or ours, "" for none.
    public let reason: String
    /// `ignored`, `soft` or `hard`; nil for what is no failure.
    public let failureType: String?
    /// The kind of failure in words; nil for what is no failure.
    public let failureReason: String?
    /// The gateway's own id of it.
    public let gatewayMessageID: String?
    /// How often it was tried.
    public let attempt: Int32
    /// When its outcome was stored; nil for a pending one.
    public let loggedAt: DatabaseTime?
    /// Whether the device said that it has it.
    public let isReceived: Bool
    /// Whether its user opened it.
    public let isClicked: Bool
}

extension Store {
    /// The highest number of a message of a delivery, 0 if it has none.
    public func highestMessageNumber(delivery id: Int64) async throws -> Int32 {
        try await query("SELECT pushmta_engine.api_highest_number($1)", [.int64(id)]).int32(0, 0)
    }

    /// The messages of a delivery with numbers in a range, in their order, those without an outcome included.
    public func outcomes(delivery id: Int64, sequences: ClosedRange<Int32>) async throws -> [OutcomeRow] {
        let result = try await query(
            """
            SELECT o.sequence, o.subscription_id, o.status, o.http_status, o.reason, o.failure_type, o.failure_reason,
                o.gateway_message_id, o.attempt, o.logged_at, o.received, o.clicked
            FROM pushmta_engine.api_outcomes($1, $2, $3) o
            """,
            [.int64(id), .int32(sequences.lowerBound), .int32(sequences.upperBound)]
        )
        return try all(result) { rows, row in
            OutcomeRow(
                sequence: try rows.int32(row, 0),
                subscriptionID: try rows.int64(row, 1),
                status: try rows.text(row, 2),
                httpStatus: try rows.int32(row, 3),
                reason: try rows.text(row, 4),
                failureType: try rows.textOrNil(row, 5),
                failureReason: try rows.textOrNil(row, 6),
                gatewayMessageID: try rows.textOrNil(row, 7),
                attempt: try rows.int32(row, 8),
                loggedAt: try rows.timeOrNil(row, 9),
                isReceived: try rows.bool(row, 10),
                isClicked: try rows.bool(row, 11)
            )
        }
    }
}
