/// A request with the one who waits for its reply.
struct Submission: Sendable {
    let request: Request
    /// Nil when nobody waits (clean-up work).
    let continuation: CheckedContinuation<Reply, any Error>?

    func succeed(_ reply: Reply) { continuation?.resume(returning: reply) }
    func fail(_ error: any Error) { continuation?.resume(throwing: error) }
}

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
