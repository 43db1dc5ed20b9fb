/// Old things that are not thrown away for a day, because so much of them became old at once that the clock may be wrong.
public struct RetentionHold: Sendable, Hashable {
    /// What they are, as in `pushmta.retention_log`.
    public let what: String
    /// When they begin to go if the clock stays as it is.
    public let goesInSeconds: Double
    /// What the database's clock says now, for a person.
    public let databaseTime: String
}
