/// What an import did.
public struct ImportReport: Sendable {
    /// Subscriptions that are new.
    public var created = 0
    /// Subscriptions that existed with the same user and were updated.
    public var updated = 0
    /// Older subscriptions of a token that went to another user, now disabled.
    public var disabled = 0
    /// Lines that were left out: the first 100 of them.
    public var problems: [ImportProblem] = []
    /// How many lines were left out.
    public var skipped = 0

    /// An empty report.
    public init() {}
}
