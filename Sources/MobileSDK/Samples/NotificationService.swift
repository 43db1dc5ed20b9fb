// A notification service extension: it fetches the medium that the variable `mediaUrl` names, and attaches it.
//
// The delivery must have "mutable content" set, or the system does not ask the extension.

import MobileSDK
import UserNotifications

/// Two threads come here: the download's, and the system's when the time is over. The lock keeps the content and its handler.
final class NotificationService: UNNotificationServiceExtension, @unchecked Sendable {
    private let lock = NSLock()
    private var contentHandler: ((UNNotificationContent) -> Void)?
    private var bestAttempt: UNMutableNotificationContent?
    private var download: URLSessionDownloadTask?

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        self.contentHandler = contentHandler
        bestAttempt = request.content.mutableCopy() as? UNMutableNotificationContent
        let message = PushMessage(userInfo: request.content.userInfo)

        // The extension is a process of its own, with files and settings of its own.
        PushClient.shared.setTrackingHost("https://push.example.com")
        PushClient.shared.track(message, .receive)

        guard let url = message.mediaURL.flatMap({ URL(string: $0) }), url.scheme == "https" else { return finish() }
        download = URLSession.shared.downloadTask(with: url) { [weak self] file, response, _ in
            if let file { self?.attach(file, name: response?.suggestedFilename ?? url.lastPathComponent) }
            self?.finish()
        }
        download?.resume()
    }

    /// The time is over (about 30 s): the notification is shown as far as it came.
    override func serviceExtensionTimeWillExpire() {
        download?.cancel()
        finish()
    }

    /// The system tells the kind of a medium by its file's ending, so the file gets the name that the server gave.
    private func attach(_ file: URL, name: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let target = folder.appendingPathComponent(name)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: file, to: target)
            let medium = try UNNotificationAttachment(identifier: "media", url: target)
            lock.lock()
            defer { lock.unlock() }
            // What has been shown is the system's.
            if contentHandler != nil { bestAttempt?.attachments = [medium] }
        } catch {
            // Without the medium the notification still says what it says.
        }
    }

    /// Shows the notification, once.
    private func finish() {
        lock.lock()
        let handler = contentHandler
        contentHandler = nil
        lock.unlock()
        if let bestAttempt { handler?(bestAttempt) }
    }
}
