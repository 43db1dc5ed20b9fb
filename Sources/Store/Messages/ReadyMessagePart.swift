/// A part of a continuous delivery that is ready to be sent.
public struct ReadyMessagePart: Sendable, Hashable {
    /// The part.
    public let id: Int64
    /// The application of its messages.
    public let applicationID: Int32
    /// Their routing.
    public let accountID: Int32

    /// A part.
    public init(id: Int64, applicationID: Int32, accountID: Int32) {
        self.id = id
        self.applicationID = applicationID
        self.accountID = accountID
    }
}
