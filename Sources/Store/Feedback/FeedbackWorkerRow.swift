/// A feedback worker as monitoring sees it.
public struct FeedbackWorkerRow: Sendable {
    /// Its id.
    public let id: String
    /// The name of its host.
    public let host: String
    /// Its process.
    public let pid: Int32
    /// The program's version.
    public let version: String
    /// `acting`, `standby`, `stopped`, or `gone` if nothing was heard of it for 30 s.
    public let state: String
    /// Since when it is the one that acts; nil if it is not.
    public let actingSince: DatabaseTime?
    /// The age of its last beat.
    public let beatAgeSeconds: Double
    /// What it did last.
    public let lastAction: String
    /// Token events that it decided.
    public let tokenEvents: Int64
    /// Messages that it counted.
    public let messagesCounted: Int64
    /// Hits that it counted.
    public let hitsCounted: Int64
    /// Hits that it loaded from tracking spools.
    public let hitsLoaded: Int64
    /// Tracking spools on its host with hits that wait though their process is gone.
    public let waitingSpools: Int32
    /// The bytes of these hits, as far as they are known.
    public let waitingSpoolBytes: Int64
}
