/// A key of the API, as lists show it.
public struct APIKeyRow: Sendable {
    /// What names it.
    public let publicID: String
    /// Whose it is.
    public let name: String
    /// What it may be used for, as it is stored.
    public let scopes: [String]
    /// The names of the applications that it is for; empty: all.
    public let applications: [String]
    /// When it was made.
    public let createdAt: DatabaseTime
    /// When it expires, nil for never.
    public let expiresAt: DatabaseTime?
    /// When it was revoked, nil if it was not.
    public let revokedAt: DatabaseTime?
    /// The hour in which it was used last, nil if never.
    public let lastUsedAt: DatabaseTime?
    /// `active`, `expired` or `revoked`.
    public let state: String
}
