import Synchronization

/// One thing that a caller asks of a connection, on its way through the connection's thread.
final class Request: Sendable {
    /// What is to be done.
    let work: Work
    /// The exclusive session it belongs to (a transaction, a COPY), nil for everybody's.
    let session: UInt64?
    private let cancelled = Atomic<Bool>(false)

    init(_ work: Work, session: UInt64? = nil) {
        self.work = work
        self.session = session
    }

    /// Whether the caller's task was cancelled; the thread looks at it before it sends.
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Notes that the caller's task was cancelled.
    func markCancelled() { cancelled.store(true, ordering: .releasing) }

    /// The kinds of work.
    enum Work: Sendable {
        /// Statements in one pipeline sync.
        case group([PostgresStatement])
        /// As `group`, and from then on only the session's requests are served.
        case open([PostgresStatement])
        /// As `group`, and then the session is over.
        case close([PostgresStatement])
        /// Several statements in the simple protocol.
        case script(String)
        /// Starts COPY … FROM STDIN; the session stays on the connection until `copyEnd`.
        case copyIn(String)
        /// Bytes of a COPY FROM STDIN.
        case copyChunk([UInt8])
        /// The end of a COPY FROM STDIN, or that it is given up.
        case copyEnd(failed: Bool)
        /// Starts COPY … TO STDOUT.
        case copyOut(String)
        /// The next bytes of a COPY TO STDOUT.
        case copyNext
        /// The reader of a COPY TO STDOUT has gone.
        case copyAbandon
        /// Waits for a notification.
        case notification(deadline: ContinuousClock.Instant)
    }
}
