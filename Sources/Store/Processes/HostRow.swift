/// A host as the database knows it.
package struct HostRow: Sendable {
    package let report: HostReport
    /// When this supervisor started.
    package let startedAt: DatabaseTime
    /// Seconds since its last heartbeat, on the database's clock.
    package let heartbeatAgeSeconds: Double
    /// `alive`, `late` (no heartbeat for 5 s), `gone` (none for 15 s) or `stopped`.
    package let health: String
    /// Whether another living host runs another version.
    package let isVersionMixed: Bool
    /// Whether an operator asked it to drain since its supervisor started.
    package let isDrainRequested: Bool
    /// Messages that its children recorded as `unknown`.
    package let unknown: Int64
    /// Messages that its children sent again although the gateway may have received them.
    package let resentAfterAmbiguity: Int64
    /// Outcomes that its children stored after they had lost the part.
    package let lateOutcomes: Int64

    /// Whether its supervisor is alive, judging by its heartbeats.
    package var isHeardOf: Bool { health == "alive" || health == "late" }
    /// Whether it has been silent long enough that others take over.
    package var isGone: Bool { health == "gone" }

    package init(
        report: HostReport,
        startedAt: DatabaseTime,
        heartbeatAgeSeconds: Double,
        health: String = "alive",
        isVersionMixed: Bool = false,
        isDrainRequested: Bool = false,
        unknown: Int64 = 0,
        resentAfterAmbiguity: Int64 = 0,
        lateOutcomes: Int64 = 0
    ) {
        self.report = report
        self.startedAt = startedAt
        self.heartbeatAgeSeconds = heartbeatAgeSeconds
        self.health = health
        self.isVersionMixed = isVersionMixed
        self.isDrainRequested = isDrainRequested
        self.unknown = unknown
        self.resentAfterAmbiguity = resentAfterAmbiguity
        self.lateOutcomes = lateOutcomes
    }
}
