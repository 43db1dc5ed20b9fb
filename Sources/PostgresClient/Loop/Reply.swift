/// What a request ends with.
enum Reply: Sendable {
    /// A result for each statement.
    case results([PostgresResult])
    /// The number of rows copied.
    case rows(Int64)
    /// Bytes copied out; nil at the end.
    case bytes([UInt8]?)
    /// A notification; nil at the deadline.
    case notification(PostgresNotification?)
    /// Nothing more to say.
    case done
}
