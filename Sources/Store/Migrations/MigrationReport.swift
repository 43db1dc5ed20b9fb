/// What a migration did.
public struct MigrationReport: Sendable {
    /// Schema version found, 0 if there was none.
    public let from: Int32
    /// Schema version now.
    public let to: Int32
    /// Names of the steps applied, in order; empty if there was nothing to do.
    public let applied: [String]
    /// Rights that roles had not and have now, as the statements that gave them.
    public let granted: [String]
}
