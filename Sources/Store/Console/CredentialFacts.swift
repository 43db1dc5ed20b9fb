import PushCore

/// The public facts of an application's credential.
package struct CredentialFacts: Sendable, Hashable {
    package let kind: CredentialKind
    /// SHA-256 of the material, hex.
    package let fingerprint: String
    /// When it expires; nil if it does not.
    package let expiresAt: DatabaseTime?
    /// How long it is valid; negative if it has expired, nil if it does not expire.
    package let secondsLeft: Double?
    package let createdAt: DatabaseTime
    /// Other attributes that are not secret: key id and team id, topics, project id.
    package let attributes: [String: String]
    /// The names of the applications that use it.
    package let applications: [String]
}
