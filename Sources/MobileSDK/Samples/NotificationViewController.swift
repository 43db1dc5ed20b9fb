// A notification content extension for the category "image": it shows the medium that the service extension attached.
//
// In the extension's Info.plist, NSExtension > NSExtensionAttributes > UNNotificationExtensionCategory is "image", and the
// delivery's category has the same value. The three views are those of its storyboard.

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
        // The file belongs to the system, so it may be read only between start and stop.
        guard let url = content.attachments.first?.url, url.startAccessingSecurityScopedResource() else { return }
        defer { url.stopAccessingSecurityScopedResource() }
        imageView.image = (try? Data(contentsOf: url)).flatMap(UIImage.init(data:))
    }
}
