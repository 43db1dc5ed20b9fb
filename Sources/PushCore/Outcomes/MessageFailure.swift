/// What kind of failure an answer is, as it is kept with the message's outcome.
public struct MessageFailure: Sendable, Hashable {
    /// How grave it is for the address.
    public var type: FailureType
    /// Why it failed.
    public var reason: FailureReason

    /// Makes a failure.
    public init(_ type: FailureType, _ reason: FailureReason) {
        self.type = type
        self.reason = reason
    }

    /// Both as one number, for journals and the database: type × 256 + reason.
    public var code: Int16 { type.rawValue << 8 | reason.rawValue }

    /// The failure with a code, or nil.
    public init?(code: Int16) {
        guard let type = FailureType(rawValue: code >> 8), let reason = FailureReason(rawValue: code & 0xFF) else {
            return nil
        }
        self.init(type, reason)
    }
}
