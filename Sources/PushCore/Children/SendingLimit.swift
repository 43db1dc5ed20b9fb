/// What keeps a child from sending faster at a moment; the column `limited_by` of `pushmta.mta_child`.
public enum SendingLimit: String, Sendable, Codable, CaseIterable {
    /// It has no messages.
    case work
    /// Messages are claimed, read and made no faster: the database, or this process.
    case loading
    /// Messages wait for a stream: the gateway's answers take their time, and all streams of all connections are in use.
    case connections
    /// As many messages as may be are on their way or not stored.
    case window = "dispatch window"
    /// A limit of messages a second.
    case rate
    /// The gateway takes no messages.
    case trouble = "gateway trouble"
    /// The application's circuit is open.
    case circuit
}
