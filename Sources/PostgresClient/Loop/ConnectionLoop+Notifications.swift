import CLibPQ

extension ConnectionLoop {
    /// Notifications kept while nobody waits; a wake-up that is lost beyond costs nothing, because polling goes on.
    private static let maximumKept = 10_000

    /// Takes in a caller that waits for a notification.
    func addNotificationWaiter(_ submission: Submission, _ deadline: ContinuousClock.Instant) {
        if submission.request.isCancelled {
            submission.fail(CancellationError())
        } else {
            notificationWaiters.append(NotificationWaiter(submission: submission, deadline: deadline))
            deliverNotifications()
        }
    }

    /// Collects what libpq has read.
    func receiveNotifications() {
        while let notification = PQnotifies(connection) {
            let channel = String(cString: notification.pointee.relname)
            let payload = notification.pointee.extra.map { String(cString: $0) } ?? ""
            let sender = notification.pointee.be_pid
            PQfreemem(notification)
            notifications.append(PostgresNotification(channel: channel, payload: payload, senderPID: sender))
            if notifications.count > Self.maximumKept { _ = notifications.popFirst() }
        }
        deliverNotifications()
    }

    /// Answers those whose deadline has passed.
    func expireNotificationWaiters() {
        guard !notificationWaiters.isEmpty else { return }
        let now = ContinuousClock.now
        notificationWaiters.removeAll { waiter in
            guard waiter.deadline <= now else { return false }
            waiter.submission.succeed(.notification(nil))
            return true
        }
    }

    private func deliverNotifications() {
        while !notificationWaiters.isEmpty, let notification = notifications.popFirst() {
            notificationWaiters.removeFirst().submission.succeed(.notification(notification))
        }
    }
}
