import PushCore

/// A device as the API shows it: a subscription.
public struct DeviceRow: Sendable {
    /// Its id, never used again.
    public let id: Int64
    /// Its application.
    public let applicationID: Int32
    /// The application's name.
    public let application: String
    /// Its platform.
    public let platform: Platform
    /// The token that the gateway knows.
    public let pushToken: String
    /// Whose it is, "" if unknown.
    public let userKey: String
    /// Whether deliveries include it, as far as it is not in quarantine.
    public let isEnabled: Bool
    /// Why they do not, "" if they do; `opted_out` comes before other reasons.
    public let disabledReason: String
    /// When it was disabled.
    public let disabledAt: DatabaseTime?
    /// `valid`, `with_errors`, `quarantine` or `denylisted`.
    public let quarantineStatus: String
    /// Fields of the recipient, a JSON object.
    public let recipient: String
    /// Parameters of the subscription, a JSON object.
    public let parameters: String
    /// Language tag, "" if unknown.
    public let locale: String
    /// Time zone, "" if unknown.
    public let timeZone: String
    /// Which device it says it is; nil if it does not.
    public let deviceID: String?
    /// What describes the device, a JSON object; nil for nothing.
    public let device: String?
    /// When it registered last.
    public let registeredAt: DatabaseTime
    /// When it registered first.
    public let createdAt: DatabaseTime
}
