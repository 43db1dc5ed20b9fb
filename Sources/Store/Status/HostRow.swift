/// A host as the database knows it.
public struct HostRow: Sendable {
    /// The last report.
    public let report: HostReport
    /// When this supervisor started.
    public let startedAt: DatabaseTime
    /// Seconds since its last beat, on the database's clock.
    public let beatAgeSeconds: Double

    /// A host.
    public init(report: HostReport, startedAt: DatabaseTime, beatAgeSeconds: Double) {
        self.report = report
        self.startedAt = startedAt
        self.beatAgeSeconds = beatAgeSeconds
    }
}
