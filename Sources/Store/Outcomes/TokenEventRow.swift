/// Something a gateway said about a push token; recorded with the outcome, applied later.
public struct TokenEventRow: Sendable {
    /// What was said.
    public enum Kind: String, Sendable, CaseIterable {
        /// The token is dead.
        case invalid
        /// The token has another name now (legacy FCM).
        case canonical
    }

    /// The application of the token.
    public var applicationID: Int32
    /// Whose token.
    public var subscriptionID: Int64
    /// What was said.
    public var kind: Kind
    /// Delivery whose message got the answer.
    public var deliveryID: Int64
    /// That message.
    public var sequence: Int32
    /// The gateway's words.
    public var reason: String
    /// The new token of a `canonical` event.
    public var newToken: String?
    /// Since when the gateway knows it, milliseconds since 1970; nil if it did not say.
    public var sinceMilliseconds: Int64?

    /// An event of a token.
    public init(
        applicationID: Int32,
        subscriptionID: Int64,
        kind: Kind,
        deliveryID: Int64,
        sequence: Int32,
        reason: String,
        newToken: String? = nil,
        sinceMilliseconds: Int64? = nil
    ) {
        self.applicationID = applicationID
        self.subscriptionID = subscriptionID
        self.kind = kind
        self.deliveryID = deliveryID
        self.sequence = sequence
        self.reason = reason
        self.newToken = newToken
        self.sinceMilliseconds = sinceMilliseconds
    }
}
