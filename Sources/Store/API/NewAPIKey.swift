import PushCore

/// A key of the API to store; the key itself stays with who made it.
public struct NewAPIKey: Sendable {
    /// What names it: no secret.
    public var publicID: String
    /// Its SHA-256, see `APIKey`.
    public var hash: [UInt8]
    /// Whose it is, for people; one that is not revoked has no other one's.
    public var name: String
    /// What it may be used for.
    public var scopes: Set<APIScope>
    /// The names of the applications that it is for; none: all.
    public var applications: [String]
    /// Days until it expires; nil: never.
    public var validDays: Int32?

    /// A key to store.
    public init(
        publicID: String,
        hash: [UInt8],
        name: String,
        scopes: Set<APIScope>,
        applications: [String] = [],
        validDays: Int32? = nil
    ) {
        self.publicID = publicID
        self.hash = hash
        self.name = name
        self.scopes = scopes
        self.applications = applications
        self.validDays = validDays
    }
}
