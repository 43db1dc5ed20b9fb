import PushCore

/// A child as the database knows it.
public struct ChildOverview: Sendable {
    /// The last beat, with the child's row id.
    public let beat: ChildBeat
    /// Where it runs and what it serves.
    public let row: ChildRow
    /// When its row was made.
    public let startedAt: DatabaseTime
    /// Seconds since its last beat, on the database's clock.
    public let beatAgeSeconds: Double
    /// Why it ended, as the supervisor names reasons; nil while it runs.
    public let exitReason: String?
    /// More about its end, "" if nothing.
    public let exitDetail: String
    /// Its last words on standard error.
    public let lastWords: String
    /// `alive`, `late` (no beat for 5 s), `gone` (none for 15 s) or `exited`.
    public let health: String
    /// Outcomes that came from its journal after its death.
    public let journalReplayed: Int64
    /// The name of its application, "" if it is gone.
    public let applicationName: String
    /// The name of its routing, "" if it is gone.
    public let accountName: String

    /// A child.
    public init(
        beat: ChildBeat,
        row: ChildRow,
        startedAt: DatabaseTime,
        beatAgeSeconds: Double,
        exitReason: String?,
        exitDetail: String,
        lastWords: String,
        health: String = "alive",
        journalReplayed: Int64 = 0,
        applicationName: String = "",
        accountName: String = ""
    ) {
        self.beat = beat
        self.row = row
        self.startedAt = startedAt
        self.beatAgeSeconds = beatAgeSeconds
        self.exitReason = exitReason
        self.exitDetail = exitDetail
        self.lastWords = lastWords
        self.health = health
        self.journalReplayed = journalReplayed
        self.applicationName = applicationName
        self.accountName = accountName
    }
}
