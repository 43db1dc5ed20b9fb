/// A child's report about one trace: an exchange, or only the counts.
package struct TraceReport: Sendable, Codable, Equatable {
    /// The number of the trace.
    package var trace: Int64
    /// What was on the wire.
    package var exchange: TracedExchange?
    /// The counts since the trace began in this child.
    package var counts: TraceCounts
    /// Why this child shows nothing; nil otherwise.
    package var notice: String?

    package init(trace: Int64, counts: TraceCounts, exchange: TracedExchange? = nil, notice: String? = nil) {
        self.trace = trace
        self.counts = counts
        self.exchange = exchange
        self.notice = notice
    }
}
