import CLibPQ

/// Sends cancel requests for one connection, over connections of their own.
///
/// `@unchecked Sendable`: a `PGcancel` never changes, and libpq allows its use from any thread; only `deinit` frees it.
final class Canceller: @unchecked Sendable {
    private let handle: OpaquePointer?
    private let mailbox: Mailbox

    init(connection: OpaquePointer, mailbox: Mailbox) {
        handle = PQgetCancel(connection)
        self.mailbox = mailbox
    }

    deinit { PQfreeCancel(handle) }

    /// Sends a cancel request from a thread of its own, because `PQcancel` waits until the server has acted on it, then
    /// reports to the mailbox.
    func send() {
        do {
            try WorkerThread.start { [self] in
                var reason = [CChar](repeating: 0, count: 256)
                _ = PQcancel(handle, &reason, Int32(reason.count))
                mailbox.reportCancelDelivered()
            }
        } catch {
            // Without a thread the statement just runs on.
            mailbox.reportCancelDelivered()
        }
    }
}
