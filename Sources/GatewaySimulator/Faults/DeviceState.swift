/// The state of a device token at a gateway. A token without one is valid.
package enum DeviceState: Sendable, Equatable {
    /// The app was removed: APNs 410 `Unregistered`, FCM `UNREGISTERED`, legacy FCM `NotRegistered`. The time of the
    /// removal is in milliseconds since 1970 (APNs only).
    case unregistered(sinceMilliseconds: Int64)
    /// The token is too old: APNs 410 `ExpiredToken`, FCM `UNREGISTERED`, legacy FCM `NotRegistered`.
    case expired(sinceMilliseconds: Int64)
    /// The token is invalid or of the other environment: APNs `BadDeviceToken`, FCM `INVALID_ARGUMENT`, legacy FCM
    /// `InvalidRegistration`.
    case badDeviceToken
    /// The token belongs to another app: APNs `DeviceTokenNotForTopic`, FCM `SENDER_ID_MISMATCH`, legacy FCM
    /// `MismatchSenderId`.
    case deviceTokenNotForTopic
    /// The token is accepted, but another one should replace it: legacy FCM's canonical id. At other gateways it is
    /// valid.
    case replaced(by: String)
    /// The token is for pushes of this type; PushKit, ActivityKit and WidgetKit each issue their own. APNs answers
    /// pushes to another topic with `DeviceTokenNotForTopic`. At other gateways it is valid.
    case pushType(String)
    /// A script determines the answers to its pushes.
    case scripted(ScriptedAnswer)

    /// The state with this name, as at the control port and on the command line; nil if there is none.
    ///
    /// - Parameter by: The replacement token for `Replaced`, or the value of `apns-push-type` for `PushType`; both need
    ///   it.
    package init?(name: String, sinceMilliseconds: Int64, by: String? = nil) {
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

    /// The names that `init(name:sinceMilliseconds:by:)` accepts, without their FCM aliases.
    package static let names = [
        "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic", "Replaced (with the new token)",
        "PushType (with the push type)",
    ]
}
