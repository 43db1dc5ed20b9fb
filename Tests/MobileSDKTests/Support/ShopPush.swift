import Foundation
import MobileSDK

/// What an app tells PushMTA; its app delegate calls it.
struct ShopPush {
    private let client = PushClient.shared

    /// In `didFinishLaunchingWithOptions`.
    func start() {
        client.setMarketingHost("https://push.example.com")
        client.setTrackingHost("https://push.example.com")
        client.setIntegrationKey("shop-ios-key")
    }

    /// In `didRegisterForRemoteNotificationsWithDeviceToken`; the proof is your backend's, where the service asks for one.
    func register(_ deviceToken: Data, proof: String? = nil) async -> RegistrationOutcome {
        await client.registerDevice(
            token: deviceToken,
            userKey: "someone@example.com",
            parameters: ["firstName": "Ada", "points": 3233, "newsletter": true],
            userKeyProof: proof
        )
    }

    /// When a notification is clicked, with `response.notification.request.content.userInfo`.
    func opened(_ userInfo: [AnyHashable: Any]) {
        client.track(userInfo, .click)
    }

    /// In `didReceiveRemoteNotification`, for a silent one, before the completion handler.
    func arrived(_ userInfo: [AnyHashable: Any]) async {
        await client.track(PushMessage(userInfo: userInfo), .receive)
    }
}
