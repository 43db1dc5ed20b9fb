import CLibPQ
import OperatingSystem

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The thread's side of one connection: takes requests from the mailbox, drives libpq, and answers.
///
/// Everything here runs on the connection's own thread, so libpq never sees two threads at once. It waits in `poll` for
/// the socket and the wake-up only, never inside libpq.
final class ConnectionLoop {
    let connection: OpaquePointer
    let mailbox: Mailbox
    let notices: NoticeReceiver
    let canceller: Canceller
    var queue = RequestQueue()
    /// Groups that were sent, in order; the server is working on the first.
    var inFlight = FIFO<GroupInFlight>()
    /// A script or COPY that has the connection outside of pipeline mode.
    var exclusive: ExclusiveOperation?
    var statements = StatementCache()
    let encoder = ParameterEncoder()
    /// Whether libpq holds bytes that the socket did not take.
    var needsFlush = false
    /// Whether a cancel request is on its way, which would hit whatever runs when it arrives.
    var isCancelling = false
    var notifications = FIFO<PostgresNotification>()
    var notificationWaiters: [NotificationWaiter] = []
    private var groups: UInt64 = 0
    private let usesTLS: Bool
    /// Whether the socket is left alone for ``resultMilliseconds``: part of a result has come, and no more just now.
    private var looksAway = false

    /// Results that were read since the start.
    var results: UInt64 = 0

    /// `PQconsumeInput` takes 16 KiB at most. After so many of them, 1 MiB, mail is looked at.
    private static let mostReads = 64
    /// A server sends a result in pieces of 8 KiB, and a wake-up for each costs both sides more than the piece. So the rest of one that
    /// comes in pieces is left to gather for so long.
    private static let resultMilliseconds: Int32 = 1

    /// As many groups may be at the server at once; more would only fill buffers.
    static let maximumGroupsInFlight = 64

    init(connection: OpaquePointer, mailbox: Mailbox, notices: NoticeReceiver) {
        self.connection = connection
        self.mailbox = mailbox
        self.notices = notices
        canceller = Canceller(connection: connection, mailbox: mailbox)
        usesTLS = PQsslInUse(connection) != 0
    }

    /// A number for a group, by which the statement cache tells groups apart.
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

    /// One turn; false when the connection is to be closed.
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

    /// Reads what has come.
    /// - Parameter isReadable: whether something has.
    private func receiveAll(_ isReadable: Bool) throws(PostgresError) {
        let before = results
        looksAway = false
        for _ in 0..<Self.mostReads {
            try receive()
            guard isInMiddleOfResult else { return }
            guard Readiness.canRead(socket: PQsocket(connection)) else {
                // After the end of a result nothing is known of the next: it may have begun, or its statement runs.
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
                stray.fail(PostgresError(code: .sqlState("25P01"), message: "the transaction or COPY is over"))
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
            // A COPY has just ended, and others have waited for it.
            try startWaiting()
        }
    }

    private func startWaiting() throws(PostgresError) {
        while exclusive == nil, !isCancelling, !needsFlush, inFlight.count < Self.maximumGroupsInFlight {
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

    /// A COPY that nobody reads just now must not fill libpq's memory.
    private var wantsToRead: Bool { exclusive?.isHeldBack != true }

    private var isWaitingForServer: Bool { !inFlight.isEmpty || exclusive != nil && wantsToRead }

    /// OpenSSL may hold decrypted bytes that `poll` does not show (libpq reads at least 8 KiB a time, a record has up to
    /// 16 KiB), so with TLS the socket is looked at again after so long.
    private static let tlsLookAgainMilliseconds: Int32 = 20

    private func millisecondsToNextDeadline() -> Int32 {
        var limit: Int32 = usesTLS && isWaitingForServer ? Self.tlsLookAgainMilliseconds : -1
        guard let deadline = notificationWaiters.map(\.deadline).min() else { return limit }
        let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
        let milliseconds = Int32(min(max(left.rounded(.up), 0), 3_600_000))
        limit = limit < 0 ? milliseconds : min(limit, milliseconds)
        return limit
    }

    /// Gives libpq's buffer to the socket as far as it takes it.
    func flush() throws(PostgresError) {
        switch PQflush(connection) {
        case 0: needsFlush = false
        case 1: needsFlush = true
        default:
            needsFlush = false
            try fail()
        }
    }

    /// Ends the connection after libpq refused to send. What the server said last may have been read and not yet handled.
    func fail() throws(PostgresError) -> Never {
        try receive()
        throw lost()
    }

    /// The connection is gone; says why as well as anybody knows.
    func lost() -> PostgresError {
        if let stderrTail = notices.stderrTail { return stderrTail.asLossOfConnection() }
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
    /// Takes note of what callers do not want any more: what still waits is dropped, what runs is cancelled at the server.
    func noteCancellations(_ mail: Mailbox.Mail) {
        for request in mail.cancelled {
            if let submission = queue.remove(request) {
                submission.fail(CancellationError())
            } else if let index = notificationWaiters.firstIndex(where: { $0.submission.request === request }) {
                notificationWaiters.remove(at: index).submission.fail(CancellationError())
            } else if let operation = exclusive, operation.waiting?.request === request {
                operation.cancelWanted = true
                // A chunk's waiter then ends the COPY itself.
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

    /// Sends a cancel request when the server is working on something that is not wanted.
    ///
    /// The server cancels whatever it is running when the request arrives. So a request is sent only for the first group,
    /// nothing else is sent until it was delivered, and groups behind that were hit by it are sent again.
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
            try DetachedThread.start { [self] in
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

/// A caller that waits for a notification.
struct NotificationWaiter {
    let submission: Submission
    let deadline: ContinuousClock.Instant
}

/// What `poll` found on a connection's socket.
struct Readiness {
    var canRead = false
    var canWrite = false

    /// Whether the socket has something to read now.
    static func canRead(socket: Int32) -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    /// Waits until the socket or the wake-up is ready, or the milliseconds are over (-1: no limit).
    ///
    /// Errors and hang-ups of the socket count as readable, so that libpq finds out what it is.
    static func wait(
        socket: Int32,
        reading: Bool,
        writing: Bool,
        wakeUp: WakeUp,
        milliseconds: Int32
    ) -> Readiness {
        let watched = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
        // A negative descriptor is skipped; a socket that nobody wants to hear of would report hang-ups for ever.
        let first = pollfd(fd: watched == 0 ? -1 : socket, events: Int16(watched), revents: 0)
        let second = pollfd(fd: wakeUp.readDescriptor, events: Int16(POLLIN), revents: 0)
        var descriptors = (first, second)
        let count = withUnsafeMutableBytes(of: &descriptors) { bytes in
            poll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, milliseconds)
        }
        guard count > 0 else { return Readiness() }
        if descriptors.1.revents != 0 { wakeUp.drain() }
        let found = Int32(descriptors.0.revents)
        let trouble = found & Int32(POLLERR | POLLHUP | POLLNVAL) != 0
        return Readiness(
            canRead: found & Int32(POLLIN) != 0 || trouble,
            canWrite: found & Int32(POLLOUT) != 0 || trouble && writing
        )
    }
}
