import PostgresClient
import Store

/// What to do about a failed transaction.
enum DatabaseTrouble: Sendable, Hashable {
    /// Somebody else changed the same rows: try again at once.
    case conflict
    /// The database is away, shuts down or lacks resources: try again later.
    case away
    /// It refuses a value: trying again would be in vain.
    case value
    /// Something else is wrong, such as a right that is missing.
    case other

    init(_ error: any Error) {
        guard let error = error as? PostgresError else {
            self = .other
            return
        }
        let state = error.sqlState ?? ""
        if error.isUniqueViolation || ["40001", "40P01", "55P03"].contains(state) {
            self = .conflict
        } else if error.isConnectionLost || error.isRetryable {
            self = .away
        } else if ["22", "23", "54"].contains(where: { state.hasPrefix($0) }) || error.code == .type {
            // Data exceptions, violated constraints, exceeded limits (an index entry that is too long).
            self = .value
        } else {
            self = .other
        }
    }
}
