/// What currently keeps a child from sending faster; the column `limited_by` of `pushmta.mta_child`.
package enum SendingLimit: String, Sendable, Codable, CaseIterable {
    /// It has no messages to send.
    case work
    /// Claiming, loading and rendering messages takes the time: the database or this process is the bottleneck.
    case loading
    /// Messages wait for a stream: all streams of all connections wait for the gateway's answers.
    case connections
    /// The dispatch window is full: the maximum number of messages is in flight or not yet stored.
    case window = "dispatch window"
    /// A rate limit, in messages a second.
    case rate
    /// The gateway accepts no messages.
    case trouble = "gateway trouble"
    /// The application's circuit is open.
    case circuit
}
