// An app that registers its device and tracks notifications. The samples belong to apps and are not built with the SDK.

import MobileSDK
import UIKit
import UserNotifications

@main
final class AppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate, PushClientDelegate {
    private var userKey = "someone@example.com"

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let client = PushClient.shared
        client.setMarketingHost("https://push.example.com")
        client.setTrackingHost("https://push.example.com")
        client.setIntegrationKey("the application's integration key")
        client.setDelegate(self)

        let center = UNUserNotificationCenter.current()
        center.delegate = self
        center.requestAuthorization(options: [.alert, .badge, .sound]) { _, _ in }
        // Register even without permission to show notifications: silent notifications need a token too.
        application.registerForRemoteNotifications()
        return true
    }

    func applicationWillEnterForeground(_ application: UIApplication) {
        PushClient.shared.retryNow()
    }

    func application(
        _ application: UIApplication,
        didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        PushClient.shared.registerDevice(
            token: deviceToken,
            userKey: userKey,
            parameters: ["firstName": "Ada", "points": 3233, "newsletter": true]
        )
    }

    /// Gets the outcome of a registration.
    func registerDeviceStatus(_ outcome: RegistrationOutcome) {
        switch outcome {
        case .success: print("registered")
        case .marketingHostEmpty: print("the marketing host is not set")
        case .integrationKeyEmpty: print("the integration key is not set")
        case .connectionIssue(let reason): print("off line, will be sent later: \(reason)")
        case .unknownIntegrationKey: print("the server does not know the integration key")
        case .unexpectedError(let reason): print("the server refused: \(reason)")
        }
    }

    /// Receives silent notifications, also while the app is in the background.
    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        let message = PushMessage(userInfo: userInfo)
        guard message.isSilent else { return completionHandler(.noData) }
        Task {
            // Await it before the completion handler; otherwise the system may suspend the app first.
            await PushClient.shared.removeRecalled(message)
            await PushClient.shared.track(message, .receive)
            completionHandler(.noData)
        }
    }

    /// The user clicked a notification, which may have started the app.
    nonisolated func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        // Dismissing a notification is not a click.
        if response.actionIdentifier != UNNotificationDismissActionIdentifier {
            PushClient.shared.track(response.notification.request.content.userInfo, .click)
        }
        completionHandler()
    }
}
