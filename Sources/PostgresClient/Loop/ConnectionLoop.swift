import CLibPQ
import OperatingSystem

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The loop of a connection's thread: takes requests from the mailbox, drives libpq and replies.
///
/// Everything here runs on that thread, so libpq is never used by two threads at once. The thread waits only in `poll`,
/// for the socket and the wake-up, and never inside libpq.
final class ConnectionLoop {
    let connection: OpaquePointer
    let mailbox: Mailbox
    let notices: NoticeReceiver
    let canceller: Canceller
    var queue = RequestQueue()
    /// The groups that were sent, in order; the server is running the first.
    var inFlight = FIFO<GroupInFlight>()
    /// The script or COPY that has the connection to itself, outside pipeline mode.
    var exclusive: ExclusiveOperation?
    var statements = StatementCache()
    let encoder = ParameterEncoder()
    /// Whether libpq holds bytes that the socket did not accept.
    var needsFlush = false
    /// Whether a cancel request is under way. It would hit whatever is running when it arrives.
    var isCancelling = false
    var notifications = FIFO<PostgresNotification>()
    var notificationWaiters: [NotificationWaiter] = []
    private var groups: UInt64 = 0
    private let usesTLS: Bool
    /// Whether the socket is not read for ``resultMilliseconds``, because part of a result has arrived and the rest has
    /// not.
    private var looksAway = false

    /// The number of results read so far.
    var results: UInt64 = 0

    /// `PQconsumeInput` reads at most 16 KiB. After this many reads, 1 MiB, the mailbox is checked.
    private static let maxReads = 64
    /// A server sends a result in pieces of 8 KiB. Waking up for each costs both sides more than the piece, so the rest
    /// of such a result may gather for this long.
    private static let resultMilliseconds: Int32 = 1

    /// The maximum number of groups at the server; more would only fill buffers.
    static let maxGroupsInFlight = 64

    init(connection: OpaquePointer, mailbox: Mailbox, notices: NoticeReceiver) {
        self.connection = connection
        self.mailbox = mailbox
        self.notices = notices
        canceller = Canceller(connection: connection, mailbox: mailbox)
        usesTLS = PQsslInUse(connection) != 0
    }

    /// Returns a number that identifies a group for the statement cache.
    func newGroupNumber() -> UInt64 {
        groups += 1
        return groups
    }

    /// Serves requests until the connection is closed or lost.
    func run() {
        let end: PostgresError
        do throws(PostgresError) {
            while try serve() {}
            end = Mailbox.closedError
        } catch {
            end = error
        }
        PQfinish(connection)
        finish(end)
    }

    /// One turn of the loop; false if the connection must be closed.
    private func serve() throws(PostgresError) -> Bool {
        while let mail = mailbox.takeOrSleep() {
            if mail.close { return false }
            accept(mail)
        }
        try pump()
        if looksAway, !needsFlush {
            looksAway = false
            _ = wait(reading: false, milliseconds: Self.resultMilliseconds)
            return true
        }
        let readiness = wait(reading: wantsToRead, milliseconds: millisecondsToNextDeadline())
        if needsFlush, readiness.canWrite || readiness.canRead { try flush() }
        if readiness.canRead || usesTLS && isWaitingForServer { try receiveAll(readiness.canRead) }
        expireNotificationWaiters()
        return true
    }

    private func wait(reading: Bool, milliseconds: Int32) -> Readiness {
        Readiness.wait(
            socket: PQsocket(connection),
            reading: reading,
            writing: needsFlush,
            wakeUp: mailbox.wakeUp,
            milliseconds: milliseconds
        )
    }

    /// Reads what has arrived.
    /// - Parameter isReadable: whether the socket is readable.
    private func receiveAll(_ isReadable: Bool) throws(PostgresError) {
        let before = results
        looksAway = false
        for _ in 0..<Self.maxReads {
            try receive()
            guard isInMiddleOfResult else { return }
            guard Readiness.canRead(socket: PQsocket(connection)) else {
                // If a result has just ended, the next one may not have begun: its statement may still be running.
                looksAway = isReadable && results == before
                return
            }
        }
    }

    private var isInMiddleOfResult: Bool { exclusive == nil && !inFlight.isEmpty && PQisBusy(connection) != 0 }

    private func accept(_ mail: Mailbox.Mail) {
        for submission in mail.submissions {
            if case .notification(let deadline) = submission.request.work {
                addNotificationWaiter(submission, deadline)
            } else if let stray = queue.add(submission) {
                stray.fail(PostgresError(code: .sqlState("25P01"), message: "the transaction or COPY has ended"))
            }
        }
        if mail.cancelDelivered { isCancelling = false }
        noteCancellations(mail)
    }

    /// Sends what may be sent now.
    func pump() throws(PostgresError) {
        try startWaiting()
        while exclusive != nil {
            try advanceExclusive()
            guard exclusive == nil else { return }
            // A COPY has just ended; other requests may have waited for it.
            try startWaiting()
        }
    }

    private func startWaiting() throws(PostgresError) {
        while exclusive == nil, !isCancelling, !needsFlush, inFlight.count < Self.maxGroupsInFlight {
            guard let next = queue.next else { break }
            if next.request.isCancelled {
                queue.popNext()?.fail(CancellationError())
                continue
            }
            switch next.request.work {
            case .group, .open, .close:
                guard let submission = queue.popNext() else { break }
                try send(submission)
            case .script, .copyIn, .copyOut:
                guard inFlight.isEmpty else { return }
                guard let submission = queue.popNext() else { break }
                try startExclusive(submission)
            case .copyChunk, .copyEnd, .copyNext, .copyAbandon, .notification:
                queue.popNext()?.fail(PostgresError(code: .type, message: "no COPY is running"))
            }
        }
    }

    /// False while a COPY's reader is not reading, so that libpq's memory does not fill up.
    private var wantsToRead: Bool { exclusive?.isHeldBack != true }

    private var isWaitingForServer: Bool { !inFlight.isEmpty || exclusive != nil && wantsToRead }

    /// OpenSSL may hold decrypted bytes that `poll` does not report: libpq reads at least 8 KiB at a time, and a record
    /// has up to 16 KiB. So with TLS the socket is checked again after this long.
    private static let tlsLookAgainMilliseconds: Int32 = 20

    private func millisecondsToNextDeadline() -> Int32 {
        var limit: Int32 = usesTLS && isWaitingForServer ? Self.tlsLookAgainMilliseconds : -1
        guard let deadline = notificationWaiters.map(\.deadline).min() else { return limit }
        let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
        let milliseconds = Int32(min(max(left.rounded(.up), 0), 3_600_000))
        limit = limit < 0 ? milliseconds : min(limit, milliseconds)
        return limit
    }

    /// Writes as much of libpq's buffer as the socket accepts.
    func flush() throws(PostgresError) {
        switch PQflush(connection) {
        case 0: needsFlush = false
        case 1: needsFlush = true
        default:
            needsFlush = false
            try fail()
        }
    }

    /// Ends the connection after libpq refused to send. First handles what was already read, such as the server's last
    /// error.
    func fail() throws(PostgresError) -> Never {
        try receive()
        throw lost()
    }

    /// The error for a lost connection, with the best known reason.
    func lost() -> PostgresError {
        if let lastFatalError = notices.lastFatalError { return lastFatalError.asLossOfConnection() }
        let words = String(cString: PQerrorMessage(connection)).split(separator: "\n").map(String.init)
        let reason = words.first { !$0.hasPrefix("ERROR:") } ?? "the server closed it"
        return PostgresError(code: .connection, message: "the connection to the server was lost: \(reason)")
    }

    private func finish(_ error: PostgresError) {
        mailbox.end(error)
        for waiter in notificationWaiters { waiter.submission.fail(error) }
        while let group = inFlight.popFirst() { group.submission?.fail(error) }
        exclusive?.fail(error)
        for submission in queue.removeAll() { submission.fail(error) }
    }
}

extension ConnectionLoop {
    /// Handles cancelled requests: drops those that wait, and cancels running ones at the server.
    func noteCancellations(_ mail: Mailbox.Mail) {
        for request in mail.cancelled {
            if let submission = queue.remove(request) {
                submission.fail(CancellationError())
            } else if let index = notificationWaiters.firstIndex(where: { $0.submission.request === request }) {
                notificationWaiters.remove(at: index).submission.fail(CancellationError())
            } else if let operation = exclusive, operation.waiting?.request === request {
                operation.cancelWanted = true
                // The caller that waits for a chunk then ends the COPY.
                if case .copyChunk = request.work { operation.fail(CancellationError()) }
            } else {
                for index in inFlight.indices where inFlight[index].submission?.request === request {
                    inFlight[index].cancelWanted = true
                }
            }
        }
        if mail.cancelRunning { cancelRunning() }
        startCancelIfWanted()
    }

    private func cancelRunning() {
        guard !isCancelling else { return }
        if let group = inFlight.first {
            group.cancelOrdered = true
        } else if exclusive == nil {
            return
        }
        sendCancel()
    }

    /// Sends a cancel request if the server is running something that was cancelled.
    ///
    /// The server cancels whatever is running when the request arrives. So a request is sent only for the first group,
    /// and nothing else is sent until it was delivered. Later groups that it hit are sent again.
    func startCancelIfWanted() {
        guard !isCancelling else { return }
        if let operation = exclusive {
            guard operation.cancelWanted, !operation.cancelSent else { return }
            operation.cancelSent = true
        } else {
            guard let group = inFlight.first, group.cancelWanted, !group.cancelSent else { return }
            group.cancelSent = true
        }
        sendCancel()
    }

    private func sendCancel() {
        isCancelling = true
        for index in inFlight.indices { inFlight[index].isExposed = true }
        canceller.send()
    }
}

extension ConnectionLoop {
    /// The maximum number of notifications kept while no caller waits. Dropping more is harmless, because callers also
    /// poll.
    private static let maxKept = 10_000

    /// Registers a caller that waits for a notification.
    func addNotificationWaiter(_ submission: Submission, _ deadline: ContinuousClock.Instant) {
        if submission.request.isCancelled {
            submission.fail(CancellationError())
        } else {
            notificationWaiters.append(NotificationWaiter(submission: submission, deadline: deadline))
            deliverNotifications()
        }
    }

    /// Collects the notifications that libpq has read.
    func receiveNotifications() {
        while let notification = PQnotifies(connection) {
            let channel = String(cString: notification.pointee.relname)
            let payload = notification.pointee.extra.map { String(cString: $0) } ?? ""
            let sender = notification.pointee.be_pid
            PQfreemem(notification)
            notifications.append(PostgresNotification(channel: channel, payload: payload, senderPID: sender))
            if notifications.count > Self.maxKept { _ = notifications.popFirst() }
        }
        deliverNotifications()
    }

    /// Replies to the waiters whose deadline has passed.
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

/// Sends cancel requests for one connection, each over a connection of its own.
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

    /// Sends a cancel request from its own thread, because `PQcancel` blocks until the server has acted on it. Then
    /// reports to the mailbox.
    func send() {
        do {
            try DetachedThread.start { [self] in
                var reason = [CChar](repeating: 0, count: 256)
                _ = PQcancel(handle, &reason, Int32(reason.count))
                mailbox.reportCancelDelivered()
            }
        } catch {
            // Without a thread the statement just continues.
            mailbox.reportCancelDelivered()
        }
    }
}

/// A caller that waits for a notification.
struct NotificationWaiter {
    let submission: Submission
    let deadline: ContinuousClock.Instant
}
