/// How the reading of a feedback service went.
public struct APNsFeedbackReport: Sendable, Hashable {
    /// How many tokens were read.
    public var entries: Int
    /// What went wrong before the end; empty if nothing did. What was read before stands.
    public var trouble: String
}
