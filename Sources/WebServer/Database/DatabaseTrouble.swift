import PostgresClient
import Store

/// The kind of a failed transaction, by what to do about it.
enum DatabaseTrouble: Sendable, Hashable {
    /// Another transaction changed the same rows: try again at once.
    case conflict
    /// Another transaction holds one of the rows, perhaps for long: continue with the others.
    case locked
    /// The database is unreachable, shutting down or short of resources: try again later.
    case away
    /// The database rejects a value: trying again would not help.
    case value
    /// Something else is wrong, such as a missing privilege.
    case other

    init(_ error: any Error) {
        guard let error = error as? PostgresError else {
            self = .other
            return
        }
        let state = error.sqlState ?? ""
        if error.isLockTimeout {
            self = .locked
        } else if error.isUniqueViolation || ["40001", "40P01"].contains(state) {
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
