/// What an answer says about the push token that it was given for.
public enum TokenRule: String, Sendable, Hashable, Codable {
    /// Nothing.
    case none
    /// The token is dead.
    case invalid
    /// The token has been dead since the time in the answer; a later registration stands.
    case invalidSinceTimestamp = "invalid_since_timestamp"
    /// The gateway wants another one instead, which is in the answer.
    case replaced
    /// It counts as a soft error of the token, once the message is given up.
    case softError = "soft_error"
}

extension TokenRule {
    /// Whether the token is dead.
    var isInvalid: Bool { self == .invalid || self == .invalidSinceTimestamp }
}
