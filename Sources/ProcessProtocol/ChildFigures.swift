/// A child's metrics for its host, sent with each status line. Counters start with the process.
package struct ChildFigures: Sendable, Codable, Equatable {
    /// Messages with an outcome, by outcome and class of reason.
    package var messages: [OutcomeFigure]
    /// From writing a message to the gateway's answer.
    package var gateway: SecondsHistogram
    /// From when a single message was due (its commit or its next attempt) to the gateway's answer.
    package var waits: SecondsHistogram
    /// Durations of database operations.
    package var database: DatabaseTimes
    /// Processor time so far.
    package var cpuSeconds: Double

    /// Creates figures. Omitted values are 0.
    package init(
        messages: [OutcomeFigure] = [],
        gateway: SecondsHistogram = SecondsHistogram(),
        waits: SecondsHistogram = SecondsHistogram(),
        database: DatabaseTimes = DatabaseTimes(),
        cpuSeconds: Double = 0
    ) {
        self.messages = messages
        self.gateway = gateway
        self.waits = waits
        self.database = database
        self.cpuSeconds = cpuSeconds
    }
}

/// The number of messages with one outcome.
package struct OutcomeFigure: Sendable, Codable, Equatable {
    /// The outcome's name, such as `sent`.
    package var outcome: String
    /// The class of its reason, `none` without one.
    package var reasonClass: String
    package var count: Int64

    package init(outcome: String, reasonClass: String, count: Int64) {
        self.outcome = outcome
        self.reasonClass = reasonClass
        self.count = count
    }
}
