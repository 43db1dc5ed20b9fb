/// A feedback service as operators see it.
public struct FeedbackServiceRow: Sendable, Hashable {
    /// The application.
    public var application: String
    /// The external account of its binary gateway.
    public var account: String
    /// When a reading came to its end last; nil if none did yet.
    public var endedAt: DatabaseTime?
    /// Tokens that it has named in all.
    public var tokens: Int64
    /// What went wrong with the last reading, "" if nothing did.
    public var trouble: String
}
