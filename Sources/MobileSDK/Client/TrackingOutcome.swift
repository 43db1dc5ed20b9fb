/// How a tracking request ended.
public enum TrackingOutcome: Sendable, Equatable {
    /// The server has it.
    case sent
    /// The server could not be reached or is busy. It is kept and sent again.
    case queued(reason: String)
    /// The server refused it and said this. It is not sent again.
    case refused(reason: String)
    /// No tracking host was set, or one that names no server.
    case trackingHostEmpty
    /// The notification carries no `_mId` and `_dId` of an engine, so there is nothing to track.
    case noIDs
}
