extension PushClient {
    /// Tells the server what happened to a notification.
    ///
    /// Silent notifications, and those that a service extension handles, are tracked with ``TrackingAction/receive``; a click
    /// with ``TrackingAction/click``.
    public func track(_ userInfo: [AnyHashable: Any], _ action: TrackingAction) {
        track(PushMessage(userInfo: userInfo), action)
    }

    /// Tells the server what happened to a notification that was read before.
    public func track(_ message: PushMessage, _ action: TrackingAction) {
        commands.yield(.track(path: TrackingPath.path(message, action), reply: nil))
    }

    /// Tells the server what happened to a notification, and returns when the server has it or cannot be reached.
    ///
    /// Await it before the completion handler of a silent notification, or the system may suspend the app first.
    @discardableResult public nonisolated(nonsending) func track(
        _ userInfo: [AnyHashable: Any],
        _ action: TrackingAction
    ) async -> TrackingOutcome {
        await track(PushMessage(userInfo: userInfo), action)
    }

    /// Tells the server what happened to a notification that was read before, and returns when the server has it or cannot be
    /// reached.
    @discardableResult public nonisolated(nonsending) func track(
        _ message: PushMessage,
        _ action: TrackingAction
    ) async -> TrackingOutcome {
        await withCheckedContinuation { continuation in
            commands.yield(.track(path: TrackingPath.path(message, action)) { continuation.resume(returning: $0) })
        }
    }
}
