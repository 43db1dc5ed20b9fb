import HTTPTypes

/// Why there is no page.
enum ConsoleProblem: Error, Hashable {
    /// The page or thing does not exist.
    case notFound
    /// The role does not allow it.
    case refusedRole
    /// The form was not made for this session.
    case refusedForm
    /// The request cannot be read.
    case malformed
    /// The form exceeds the limit of its page.
    case tooLong
    /// The database is unreachable.
    case databaseAway
    /// The database has canceled the statement because it took too long.
    case tooSlow
    /// Many other users want the same right now.
    case busy
    /// The state of the thing forbids it; the message is the database's.
    case conflict(String)
    /// A bug in the program.
    case failed

    var status: HTTPResponse.Status {
        switch self {
        case .notFound: .notFound
        case .refusedRole, .refusedForm: .forbidden
        case .malformed: .badRequest
        case .tooLong: .contentTooLarge
        case .databaseAway, .tooSlow, .busy: .serviceUnavailable
        case .conflict: .conflict
        case .failed: .internalServerError
        }
    }

    /// A title, and a text that says what happened and what to do.
    var words: (title: Phrase, text: Phrase) {
        switch self {
        case .notFound: (.notFoundTitle, .notFoundText)
        case .refusedRole: (.refusedRoleTitle, .refusedRoleText)
        case .refusedForm: (.refusedFormTitle, .refusedFormText)
        case .malformed: (.malformedTitle, .malformedText)
        case .tooLong: (.tooLongTitle, .tooLongText)
        case .databaseAway: (.databaseAwayTitle, .databaseAwayText)
        case .tooSlow: (.tooSlowTitle, .tooSlowText)
        case .busy: (.busyTitle, .busyText)
        case .conflict: (.conflictTitle, .conflictText)
        case .failed: (.failedTitle, .failedText)
        }
    }
}
