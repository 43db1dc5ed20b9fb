/// A script or COPY in progress, which has the connection to itself outside pipeline mode. Confined to the connection's
/// thread.
final class ExclusiveOperation {
    enum Kind {
        case script, copyIn, copyOut
    }

    enum Phase {
        /// Sent; the server's first response is awaited.
        case starting
        /// Data is copied in or out.
        case copying
        /// The server's last responses are awaited.
        case ending
        /// The reader has gone; the remaining rows are discarded.
        case draining
    }

    let kind: Kind
    /// Whether the session ends with it: true for a COPY outside a transaction.
    let ownsSession: Bool
    let text: String
    var phase = Phase.starting
    /// The request that waits for the current step.
    var waiting: Submission?
    var error: PostgresError?
    var rows: Int64 = 0
    var cancelWanted = false
    var cancelSent = false
    /// Whether the reader of a COPY TO STDOUT has gone.
    var isAbandoned = false

    init(kind: Kind, text: String, ownsSession: Bool, waiting: Submission) {
        self.kind = kind
        self.text = text
        self.ownsSession = ownsSession
        self.waiting = waiting
    }

    /// Whether the socket must not be read, because no request takes the rows yet.
    var isHeldBack: Bool {
        kind == .copyOut && waiting == nil && !isAbandoned && (phase == .copying || phase == .ending)
    }

    /// Completes the waiting request.
    func reply(_ reply: Reply) {
        waiting?.succeed(reply)
        waiting = nil
    }

    /// Fails the waiting request.
    func fail(_ error: any Error) {
        waiting?.fail(error)
        waiting = nil
    }
}
