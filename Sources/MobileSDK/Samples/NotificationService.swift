// A notification service extension: it downloads the media file that the variable `mediaUrl` names and attaches it.
//
// The delivery must have "mutable content" set; otherwise the system does not call the extension.

import MobileSDK
import UserNotifications

/// Two threads use it: that of the download, and that of the system when the time is over. The lock guards the content
/// and its handler.
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

        // The extension is a separate process with its own files and settings.
        PushClient.shared.setTrackingHost("https://push.example.com")
        PushClient.shared.track(message, .receive)

        guard let url = message.mediaURL.flatMap({ URL(string: $0) }), url.scheme == "https" else { return finish() }
        download = URLSession.shared.downloadTask(with: url) { [weak self] file, response, _ in
            if let file { self?.attach(file, name: response?.suggestedFilename ?? url.lastPathComponent) }
            self?.finish()
        }
        download?.resume()
    }

    /// The time (about 30 s) is over: show the notification in its current state.
    override func serviceExtensionTimeWillExpire() {
        download?.cancel()
        finish()
    }

    /// The system determines the media type from the file's extension, so the file keeps the server's name.
    private func attach(_ file: URL, name: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let target = folder.appendingPathComponent(name)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try FileManager.default.moveItem(at: file, to: target)
            let medium = try UNNotificationAttachment(identifier: "media", url: target)
            lock.lock()
            defer { lock.unlock() }
            // After the handler was called, the content belongs to the system.
            if contentHandler != nil { bestAttempt?.attachments = [medium] }
        } catch {
            // The notification is still useful without the media file.
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
