import PushCore

/// A key of the API to store. Only its creator knows the key itself.
package struct NewAPIKey: Sendable {
    /// Identifies the key; not secret.
    package var publicID: String
    /// Its SHA-256, see `APIKey`.
    package var hash: [UInt8]
    /// Its owner, as shown to people; unique among keys that are not revoked.
    package var name: String
    /// What it may be used for.
    package var scopes: Set<APIScope>
    /// The names of the applications that it is valid for; empty: all.
    package var applications: [String]
    /// Days until it expires; nil: never.
    package var validDays: Int32?

    package init(
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
