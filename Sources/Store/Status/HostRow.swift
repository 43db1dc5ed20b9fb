/// A host as the database knows it.
public struct HostRow: Sendable {
    /// The last report.
    public let report: HostReport
    /// When this supervisor started.
    public let startedAt: DatabaseTime
    /// Seconds since its last beat, on the database's clock.
    public let beatAgeSeconds: Double
    /// `alive`, `late` (no beat for 5 s), `gone` (none for 15 s) or `stopped`.
    public let health: String
    /// Whether another living host runs another version.
    public let isVersionMixed: Bool
    /// Whether somebody asked it to drain since its supervisor started.
    public let isDrainRequested: Bool
    /// Messages that its children recorded as `unknown`.
    public let unknown: Int64
    /// Messages that its children sent again although the gateway may have had them.
    public let resentAfterAmbiguity: Int64
    /// Outcomes that its children stored after they had lost the part.
    public let lateOutcomes: Int64

    /// A host.
    public init(
        report: HostReport,
        startedAt: DatabaseTime,
        beatAgeSeconds: Double,
        health: String = "alive",
        isVersionMixed: Bool = false,
        isDrainRequested: Bool = false,
        unknown: Int64 = 0,
        resentAfterAmbiguity: Int64 = 0,
        lateOutcomes: Int64 = 0
    ) {
        self.report = report
        self.startedAt = startedAt
        self.beatAgeSeconds = beatAgeSeconds
        self.health = health
        self.isVersionMixed = isVersionMixed
        self.isDrainRequested = isDrainRequested
        self.unknown = unknown
        self.resentAfterAmbiguity = resentAfterAmbiguity
        self.lateOutcomes = lateOutcomes
    }
}
