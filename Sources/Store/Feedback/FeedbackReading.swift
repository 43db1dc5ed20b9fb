/// A feedback service that a worker has claimed: of an application's binary gateway.
public struct FeedbackReading: Sendable, Hashable {
    /// The application whose tokens the service names.
    public var applicationID: Int32
    /// The external account whose gateway it belongs to.
    public var accountID: Int32

    /// Names a service.
    public init(applicationID: Int32, accountID: Int32) {
        self.applicationID = applicationID
        self.accountID = accountID
    }
}
