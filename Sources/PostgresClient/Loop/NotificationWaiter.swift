/// A caller that waits for a notification.
struct NotificationWaiter {
    let submission: Submission
    let deadline: ContinuousClock.Instant
}
