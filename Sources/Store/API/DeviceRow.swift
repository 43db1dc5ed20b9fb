import PushCore

/// A device as the API shows it: a subscription.
package struct DeviceRow: Sendable {
    /// Its id, never reused.
    package let id: Int64
    package let applicationID: Int32
    package let application: String
    package let platform: Platform
    /// The token at the gateway.
    package let pushToken: String
    /// The user it belongs to, "" if unknown.
    package let userKey: String
    /// Whether deliveries include it, unless it is in quarantine.
    package let isEnabled: Bool
    /// Why deliveries leave it out, "" if they do not; `opted_out` comes before other reasons.
    package let disabledReason: String
    package let disabledAt: DatabaseTime?
    /// `valid`, `with_errors`, `quarantine` or `denylisted`.
    package let quarantineStatus: String
    /// Fields of the recipient, a JSON object.
    package let recipient: String
    /// Parameters of the subscription, a JSON object.
    package let parameters: String
    /// Language tag, "" if unknown.
    package let locale: String
    /// Time zone, "" if unknown.
    package let timeZone: String
    /// The id that the device sent; nil if it sent none.
    package let deviceID: String?
    /// Describes the device, a JSON object; nil for nothing.
    package let device: String?
    /// When it last registered.
    package let registeredAt: DatabaseTime
    /// When it first registered.
    package let createdAt: DatabaseTime
}
