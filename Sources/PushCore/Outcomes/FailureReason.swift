/// Why a message failed, in Adobe Campaign's words and numbers (broad log, `failureReason`); those that a push can have.
public enum FailureReason: Int16, Sendable, Hashable, Codable, CaseIterable {
    case undefined = 0
    case userUnknown = 1
    case unreachable = 3
    case refused = 20

    /// Its name in tables and JSON, as Adobe writes it.
    public var name: String {
        switch self {
        case .undefined: "Undefined"
        case .userUnknown: "User unknown"
        case .unreachable: "Unreachable"
        case .refused: "Refused"
        }
    }
}
