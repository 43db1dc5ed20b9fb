/// The reply to a request.
enum Reply: Sendable {
    /// A result for each statement.
    case results([PostgresResult])
    /// The number of rows copied.
    case rows(Int64)
    /// Bytes copied out; nil at the end.
    case bytes([UInt8]?)
    /// A notification; nil at the deadline.
    case notification(PostgresNotification?)
    /// Success, without a value.
    case done

    /// The results of this many statements.
    func results(_ count: Int) throws(PostgresError) -> [PostgresResult] {
        guard case .results(let results) = self, results.count == count else {
            throw PostgresError(code: .connection, message: "the server's results do not match the statements")
        }
        return results
    }
}
