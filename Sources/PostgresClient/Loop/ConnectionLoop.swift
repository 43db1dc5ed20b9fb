import CLibPQ

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
        let readiness = Readiness.wait(
            socket: PQsocket(connection),
            reading: wantsToRead,
            writing: needsFlush,
            wakeUp: mailbox.wakeUp,
            milliseconds: millisecondsToNextDeadline()
        )
        if needsFlush, readiness.canWrite || readiness.canRead { try flush() }
        if readiness.canRead || usesTLS && isWaitingForServer { try receive() }
        expireNotificationWaiters()
        return true
    }

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
            try receive()
            throw lost()
        }
    }

    /// The connection is gone; says why as well as anybody knows.
    func lost() -> PostgresError {
        if let lastWords = notices.lastWords { return lastWords.asLossOfConnection() }
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
