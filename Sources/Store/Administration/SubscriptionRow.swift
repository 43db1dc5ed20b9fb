/// A subscription as the view shows it; the token is for the operator who asked, not for logs.
public struct SubscriptionRow: Sendable {
    /// Its id, never used again.
    public let id: Int64
    /// Name of its application.
    public let application: String
    /// The token that the gateway knows.
    public let pushToken: String
    /// Whose it is; "" if the app did not say.
    public let userKey: String
    /// Whether deliveries include it.
    public let enabled: Bool
    /// Why they do not, "" if they do.
    public let disabledReason: String
    /// `valid`, `with_errors`, `quarantine` or `denylisted`.
    public let quarantineStatus: String
    /// Fields of the recipient, a JSON object.
    public let recipient: String
    /// Parameters of the subscription, a JSON object.
    public let parameters: String
    /// When the device registered last.
    public let registeredAt: DatabaseTime

    /// A subscription.
    public init(
        id: Int64,
        application: String,
        pushToken: String,
        userKey: String,
        enabled: Bool,
        disabledReason: String,
        quarantineStatus: String,
        recipient: String,
        parameters: String,
        registeredAt: DatabaseTime
    ) {
        self.id = id
        self.application = application
        self.pushToken = pushToken
        self.userKey = userKey
        self.enabled = enabled
        self.disabledReason = disabledReason
        self.quarantineStatus = quarantineStatus
        self.recipient = recipient
        self.parameters = parameters
        self.registeredAt = registeredAt
    }
}
