import PushCore

/// A credential as it is stored: sealed, with its public facts.
package struct CredentialRow: Sendable {
    /// Its id. The seal authenticates it, so it is reserved before sealing (`nextCredentialID`).
    package let id: Int64
    package let kind: CredentialKind
    /// Unique.
    package let name: String
    package let sealKeyID: String
    /// The sealed material; never logged.
    package let sealed: [UInt8]
    /// Its attributes that are not secret (APNs key id and team id, Google project id), a flat JSON object.
    package let attributes: String
    /// SHA-256 of the material, hex, for people to compare.
    package let fingerprint: String
    /// When it expires; nil if it does not.
    package let expiresAt: DatabaseTime?

    package init(
        id: Int64,
        kind: CredentialKind,
        name: String,
        sealKeyID: String,
        sealed: [UInt8],
        attributes: String,
        fingerprint: String,
        expiresAt: DatabaseTime?
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.sealKeyID = sealKeyID
        self.sealed = sealed
        self.attributes = attributes
        self.fingerprint = fingerprint
        self.expiresAt = expiresAt
    }
}

extension CredentialRow {
    package var sealedCredential: SealedCredential {
        SealedCredential(
            id: id,
            kind: kind,
            name: name,
            sealKeyID: sealKeyID,
            sealed: sealed,
            attributes: attributes
        )
    }
}
