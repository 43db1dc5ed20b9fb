import Synchronization

/// A caller's request to a connection, on its way through the connection's thread.
final class Request: Sendable {
    /// What to do.
    let work: Work
    /// The exclusive session (a transaction, a COPY) that it belongs to; nil for none.
    let session: UInt64?
    private let cancelled = Atomic<Bool>(false)

    init(_ work: Work, session: UInt64? = nil) {
        self.work = work
        self.session = session
    }

    /// Whether the caller's task was cancelled; the thread checks this before it sends.
    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// Notes that the caller's task was cancelled.
    func markCancelled() { cancelled.store(true, ordering: .releasing) }

    enum Work: Sendable {
        /// Statements with one sync.
        case group([PostgresStatement])
        /// As `group`; from then on only the session's requests are served.
        case open([PostgresStatement])
        /// As `group`; then the session ends.
        case close([PostgresStatement])
        /// Several statements in the simple protocol.
        case script(String)
        /// Starts COPY … FROM STDIN; the session stays on the connection until `copyEnd`.
        case copyIn(String)
        /// Bytes of a COPY FROM STDIN.
        case copyChunk([UInt8])
        /// Ends a COPY FROM STDIN, or aborts it.
        case copyEnd(failed: Bool)
        /// Starts COPY … TO STDOUT.
        case copyOut(String)
        /// The next bytes of a COPY TO STDOUT.
        case copyNext
        /// The reader of a COPY TO STDOUT has gone; ends the COPY.
        case copyAbandon
        /// Waits for a notification.
        case notification(deadline: ContinuousClock.Instant)
    }
}
