#if canImport(UserNotifications) && !os(tvOS)
import UserNotifications

extension PushClient {
    /// Removes the notifications of a recalled delivery, and reports each to the server.
    ///
    /// Await it for each silent notification, before you call the completion handler. A message that recalls nothing
    /// changes nothing.
    public nonisolated(nonsending) func removeRecalled(_ message: PushMessage) async {
        guard message.recalledDeliveryID != nil else { return }
        let center = UNUserNotificationCenter.current()
        let shown = await center.deliveredNotifications().map { notification in
            (
                identifier: notification.request.identifier,
                message: PushMessage(userInfo: notification.request.content.userInfo)
            )
        }
        let recalled = shown.filter { message.recalls($0.message) }
        guard !recalled.isEmpty else { return }
        center.removeDeliveredNotifications(withIdentifiers: recalled.map(\.identifier))
        for one in recalled { await track(one.message, .remove) }
    }
}
#endif
