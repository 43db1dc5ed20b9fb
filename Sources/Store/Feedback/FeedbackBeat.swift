/// What a feedback worker says of itself.
public struct FeedbackBeat: Sendable, Hashable {
    /// Its id, a UUID made at its start.
    public var worker: String
    /// The name of its host.
    public var host: String
    /// Its process.
    public var pid: Int32
    /// The program's version.
    public var version: String
    /// What it did last, "" if nothing since the last beat.
    public var lastAction = ""
    /// Token events decided since the last beat.
    public var tokenEvents: Int64 = 0
    /// Messages counted since the last beat.
    public var messagesCounted: Int64 = 0
    /// Hits counted since the last beat.
    public var hitsCounted: Int64 = 0
    /// Hits loaded from tracking spools since the last beat.
    public var hitsLoaded: Int64 = 0
    /// Tracking spools on its host with hits that wait though their process is gone.
    public var waitingSpools: Int32 = 0
    /// The bytes of these hits, as far as they are known.
    public var waitingSpoolBytes: Int64 = 0

    /// A beat of a worker that has done nothing yet.
    public init(worker: String, host: String, pid: Int32, version: String) {
        self.worker = worker
        self.host = host
        self.pid = pid
        self.version = version
    }
}
