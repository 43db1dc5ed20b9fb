/// A subscription that a message is shown for.
public struct PreviewAddress: Sendable, Hashable {
    /// The subscription.
    public let subscriptionID: Int64
    /// Its application.
    public let applicationID: Int32
    /// The values of its seed address for the message's fields, a JSON object; nil for none.
    public let variables: String?

    /// A subscription to show a message for.
    public init(subscriptionID: Int64, applicationID: Int32, variables: String? = nil) {
        self.subscriptionID = subscriptionID
        self.applicationID = applicationID
        self.variables = variables
    }
}
