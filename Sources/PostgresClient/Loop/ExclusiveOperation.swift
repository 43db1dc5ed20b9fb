/// A script or COPY on its way; it has the connection outside of pipeline mode. Confined to the connection's thread.
final class ExclusiveOperation {
    enum Kind {
        case script, copyIn, copyOut
    }

    enum Phase {
        /// Sent; the server's first answer decides.
        case starting
        /// Data goes in or out.
        case copying
        /// The server's last answers are awaited.
        case ending
        /// The reader has gone: what still comes is thrown away.
        case draining
    }

    let kind: Kind
    /// Whether the session ends with it (a COPY of its own, not one inside a transaction).
    let ownsSession: Bool
    let text: String
    var phase = Phase.starting
    /// Who waits for the present step.
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

    /// Whether nothing may be read from the socket, because nobody takes the rows yet.
    var isHeldBack: Bool {
        kind == .copyOut && waiting == nil && !isAbandoned && (phase == .copying || phase == .ending)
    }

    /// Answers the one who waits.
    func reply(_ reply: Reply) {
        waiting?.succeed(reply)
        waiting = nil
    }

    /// Fails the one who waits.
    func fail(_ error: any Error) {
        waiting?.fail(error)
        waiting = nil
    }
}
