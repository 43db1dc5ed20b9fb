// A notification content extension for the category "image": it shows the media file that the service extension
// attached.
//
// In the extension's Info.plist, set NSExtension > NSExtensionAttributes > UNNotificationExtensionCategory to "image".
// The
// delivery's category must have the same value. The three views are those of the extension's storyboard.

import UIKit
import UserNotifications
import UserNotificationsUI

final class NotificationViewController: UIViewController, UNNotificationContentExtension {
    @IBOutlet private var imageView: UIImageView!
    @IBOutlet private var titleLabel: UILabel!
    @IBOutlet private var bodyLabel: UILabel!

    func didReceive(_ notification: UNNotification) {
        let content = notification.request.content
        titleLabel.text = content.title
        bodyLabel.text = content.body
        // The file belongs to the system, so it may be read only between the start and stop calls.
        guard let url = content.attachments.first?.url, url.startAccessingSecurityScopedResource() else { return }
        defer { url.stopAccessingSecurityScopedResource() }
        imageView.image = (try? Data(contentsOf: url)).flatMap(UIImage.init(data:))
    }
}
