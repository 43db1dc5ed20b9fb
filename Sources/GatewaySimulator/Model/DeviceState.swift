/// What a gateway knows about a device token. A token that it was told nothing about is valid.
public enum DeviceState: Sendable, Equatable {
    /// The app was removed: APNs 410 `Unregistered`, FCM `UNREGISTERED`. Milliseconds since 1970 say since when (APNs only).
    case unregistered(sinceMilliseconds: Int64)
    /// The token is too old: APNs 410 `ExpiredToken`, FCM `UNREGISTERED`.
    case expired(sinceMilliseconds: Int64)
    /// The token is wrong or of the other environment: APNs `BadDeviceToken`, FCM `INVALID_ARGUMENT`.
    case badDeviceToken
    /// The token belongs to another app: APNs `DeviceTokenNotForTopic`, FCM `SENDER_ID_MISMATCH`.
    case deviceTokenNotForTopic

    /// The state of that name, as the control port and the command line write it; nil when there is none.
    public init?(name: String, sinceMilliseconds: Int64) {
        switch name {
        case "Unregistered", "UNREGISTERED": self = .unregistered(sinceMilliseconds: sinceMilliseconds)
        case "ExpiredToken": self = .expired(sinceMilliseconds: sinceMilliseconds)
        case "BadDeviceToken", "INVALID_ARGUMENT": self = .badDeviceToken
        case "DeviceTokenNotForTopic", "SENDER_ID_MISMATCH": self = .deviceTokenNotForTopic
        default: return nil
        }
    }

    /// The names that `init(name:sinceMilliseconds:)` takes, without their FCM aliases.
    public static let names = ["Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic"]
}
