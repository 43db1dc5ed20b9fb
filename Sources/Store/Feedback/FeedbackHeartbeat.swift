/// What a feedback worker reports.
package struct FeedbackHeartbeat: Sendable, Hashable {
    /// Its id, a UUID generated at its start.
    package var worker: String
    /// The name of its host.
    package var host: String
    package var pid: Int32
    package var version: String
    /// Its last action, "" if there was none since the last heartbeat.
    package var lastAction = ""
    /// Token events decided since the last heartbeat.
    package var tokenEvents: Int64 = 0
    /// Messages counted since the last heartbeat.
    package var messagesCounted: Int64 = 0
    /// Hits counted since the last heartbeat.
    package var hitsCounted: Int64 = 0
    /// Hits loaded from tracking spools since the last heartbeat.
    package var hitsLoaded: Int64 = 0
    /// Tracking spools on its host whose process has ended and whose hits are not loaded yet.
    package var waitingSpools: Int32 = 0
    /// The bytes of these hits, as far as known.
    package var waitingSpoolBytes: Int64 = 0

    /// A heartbeat of a worker that has done nothing yet.
    package init(worker: String, host: String, pid: Int32, version: String) {
        self.worker = worker
        self.host = host
        self.pid = pid
        self.version = version
    }
}
