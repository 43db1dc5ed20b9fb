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

    /// A child.
    public init(
        beat: ChildBeat,
        row: ChildRow,
        startedAt: DatabaseTime,
        beatAgeSeconds: Double,
        exitReason: String?,
        exitDetail: String,
        lastWords: String
    ) {
        self.beat = beat
        self.row = row
        self.startedAt = startedAt
        self.beatAgeSeconds = beatAgeSeconds
        self.exitReason = exitReason
        self.exitDetail = exitDetail
        self.lastWords = lastWords
    }
}
