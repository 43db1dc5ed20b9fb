/// A credential as it is stored, with the values needed to open it.
///
/// ``CredentialKeyring`` opens it.
package struct SealedCredential: Sendable {
    /// Its id, which the seal authenticates.
    package let id: Int64
    package let kind: CredentialKind
    /// Its name, as shown to people.
    package let name: String
    package let sealKeyID: String
    /// The sealed material; never logged.
    package let sealed: [UInt8]
    /// The values that are not secret (APNs key id and team id), as a flat JSON object.
    package let attributes: String

    /// Makes a credential from its stored values.
    package init(
        id: Int64,
        kind: CredentialKind,
        name: String,
        sealKeyID: String,
        sealed: [UInt8],
        attributes: String
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.sealKeyID = sealKeyID
        self.sealed = sealed
        self.attributes = attributes
    }
}
