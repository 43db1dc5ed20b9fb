/// One line from a supervisor to the client of a trace.
package struct TraceLine: ProtocolMessage, Equatable {
    /// The version of the protocol.
    package var version: Int
    /// The child that it is about; nil for the supervisor itself.
    package var child: Int64?
    /// What was on the wire.
    package var exchange: TracedExchange?
    /// What the child has counted so far.
    package var counts: TraceCounts?
    /// The number of lines dropped since the one before, because the client read too slowly.
    package var missed: Int64?
    /// A note for the user.
    package var notice: String?
    /// Why the trace was refused or has ended; the last line.
    package var end: String?
    /// Whether ``end`` is a refusal.
    package var isRefused: Bool?

    /// A line about a child.
    package init(child: Int64?, _ report: TraceReport) {
        version = ProtocolVersion.current
        self.child = child
        exchange = report.exchange
        counts = report.counts
        notice = report.notice
    }

    /// A line of the supervisor's own.
    package init(notice: String) {
        version = ProtocolVersion.current
        self.notice = notice
    }

    /// The last line.
    package init(end: String, isRefused: Bool = false) {
        version = ProtocolVersion.current
        self.end = end
        if isRefused { self.isRefused = true }
    }
}
