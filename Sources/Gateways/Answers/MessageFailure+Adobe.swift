import PushCore

/// The failures in Adobe Campaign's table of push error types (Campaign v8, "Delivery failures", Push error types).
extension MessageFailure {
    /// The content is malformed.
    static let softUndefined = MessageFailure(.soft, .undefined)
    /// The gateway refuses the message, or its sender.
    static let softRefused = MessageFailure(.soft, .refused)
    /// The gateway cannot be reached, for the connectors whose table calls that soft.
    static let softUnreachable = MessageFailure(.soft, .unreachable)
    /// The token belongs to somebody else.
    static let softUserUnknown = MessageFailure(.soft, .userUnknown)
    /// The token is dead.
    static let hardUserUnknown = MessageFailure(.hard, .userUnknown)
    /// The gateway is in trouble, or the sender: nothing is said of the message.
    static let ignoredRefused = MessageFailure(.ignored, .refused)
    /// The message is malformed, and the address not to blame.
    static let ignoredUndefined = MessageFailure(.ignored, .undefined)
    /// The connection was lost; Adobe calls its type undefined, whose number is the same.
    static let ignoredUnreachable = MessageFailure(.ignored, .unreachable)
}
