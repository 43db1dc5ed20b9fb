/// What a gateway knows about a device token. A token that it was told nothing about is valid.
public enum DeviceState: Sendable, Equatable {
    /// The app was removed: APNs 410 `Unregistered`, FCM `UNREGISTERED`, legacy FCM `NotRegistered`. Milliseconds since 1970 say
    /// since when (APNs only).
    case unregistered(sinceMilliseconds: Int64)
    /// The token is too old: APNs 410 `ExpiredToken`, FCM `UNREGISTERED`, legacy FCM `NotRegistered`.
    case expired(sinceMilliseconds: Int64)
    /// The token is wrong or of the other environment: APNs `BadDeviceToken`, FCM `INVALID_ARGUMENT`, legacy FCM
    /// `InvalidRegistration`.
    case badDeviceToken
    /// The token belongs to another app: APNs `DeviceTokenNotForTopic`, FCM `SENDER_ID_MISMATCH`, legacy FCM `MismatchSenderId`.
    case deviceTokenNotForTopic
    /// The token is taken and another one is wanted instead: legacy FCM's canonical id. To the other gateways it is valid.
    case replaced(by: String)
    /// The token is one for pushes of this type, as PushKit, ActivityKit and WidgetKit each give their own: APNs answers those to
    /// another topic with `DeviceTokenNotForTopic`. To the other gateways it is valid.
    case pushType(String)
    /// Pushes to it are answered as a script says.
    case scripted(ScriptedAnswer)

    /// The state of that name, as the control port and the command line write it; nil when there is none.
    ///
    /// - Parameter by: the token that is wanted instead, which `Replaced` needs, or a value of `apns-push-type`, which `PushType` does.
    public init?(name: String, sinceMilliseconds: Int64, by: String? = nil) {
        switch name {
        case "Unregistered", "UNREGISTERED", "NotRegistered": self = .unregistered(sinceMilliseconds: sinceMilliseconds)
        case "ExpiredToken": self = .expired(sinceMilliseconds: sinceMilliseconds)
        case "BadDeviceToken", "INVALID_ARGUMENT", "InvalidRegistration": self = .badDeviceToken
        case "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH", "MismatchSenderId": self = .deviceTokenNotForTopic
        case "Replaced":
            guard let by else { return nil }
            self = .replaced(by: by)
        case "PushType":
            guard let by, APNsPushType(rawValue: by) != nil else { return nil }
            self = .pushType(by)
        default: return nil
        }
    }

    /// The names that `init(name:sinceMilliseconds:by:)` takes, without their FCM aliases.
    public static let names = [
        "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic", "Replaced (with the new token)",
        "PushType (with the push type)",
    ]
}
