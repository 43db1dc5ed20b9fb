/// The outcome of a tracking request.
public enum TrackingOutcome: Sendable, Equatable {
    /// The server has it.
    case sent
    /// The server could not be reached or is busy. The hit is queued and sent again.
    case queued(reason: String)
    /// The server refused it for this reason. It is not sent again.
    case refused(reason: String)
    /// No valid tracking host was set.
    case trackingHostEmpty
    /// The notification has no valid `_mId` and `_dId`, so there is nothing to track.
    case noIDs
}
