// What the samples use of Apple's UserNotificationsUI, declared in our own words.

import UserNotifications

@MainActor public protocol UNNotificationContentExtension: NSObjectProtocol {
    func didReceive(_ notification: UNNotification)
}
