/// How grave a failure is for the address, in Adobe Campaign's words and numbers (broad log, `failureType`).
public enum FailureType: Int16, Sendable, Hashable, Codable, CaseIterable {
    /// It says nothing about the address.
    case ignored = 0
    /// It may pass; where the answer is about the address, several of them, days apart, quarantine it.
    case soft = 1
    /// The address is dead.
    case hard = 2

    /// Its name in tables and JSON.
    public var name: String {
        switch self {
        case .ignored: "ignored"
        case .soft: "soft"
        case .hard: "hard"
        }
    }
}
