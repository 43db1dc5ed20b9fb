/// What the simulated devices have told their web server; only what it answered with 200 counts.
public struct FleetCounters: Sendable, Codable, Equatable {
    /// Registrations that the server has taken.
    public var registered = 0
    /// Receipts of messages that the server has taken.
    public var received = 0
    /// Clicks on messages that the server has taken.
    public var clicked = 0
    /// Requests without an answer, or with another one than 200; devices do not repeat them.
    public var failed = 0
    /// Requests that are to be made.
    public var waiting = 0
    /// Messages whose payload carried no ids that a device could report.
    public var untracked = 0
}
