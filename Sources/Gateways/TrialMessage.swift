import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The single message of a trial send.
package struct TrialMessage: Sendable {
    package var token: String
    package var body: String
    package var attributes: MessageAttributes

    package init(token: String, body: String, attributes: MessageAttributes) {
        self.token = token
        self.body = body
        self.attributes = attributes
    }

    /// A well-formed APNs device token that no device has.
    private static let noAPNsDevice = String(repeating: "0", count: 64)

    /// A push to an iOS device. APNs has no check-only mode; without a text, the push wakes the device and shows
    /// nothing.
    package static func apns(token: String?, alert: String?) -> TrialMessage {
        var body = #"{"aps":{"content-available":1}}"#
        if let alert, let json = try? JSONEncoder().encode(["aps": ["alert": alert]]) {
            body = String(decoding: json, as: UTF8.self)
        }
        return TrialMessage(
            token: token ?? noAPNsDevice,
            body: body,
            attributes: alert == nil
                ? MessageAttributes(pushType: .background, priority: 5, expirationSeconds: 0)
                : MessageAttributes(expirationSeconds: 0)
        )
    }

    /// A message that FCM checks but does not deliver.
    ///
    /// - Parameter body: the body for a token.
    package static func fcm(token: String?, body: (String) -> String) -> TrialMessage {
        let token = token ?? "no-device"
        return TrialMessage(token: token, body: body(token), attributes: MessageAttributes(expirationSeconds: 0))
    }
}
