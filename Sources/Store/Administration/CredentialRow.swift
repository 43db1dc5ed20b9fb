/// A credential as it is stored: sealed, with what may be shown of it.
public struct CredentialRow: Sendable {
    /// What the material is.
    public enum Kind: String, Sendable, CaseIterable {
        case apnsKey = "apns_key"
        case apnsCertificate = "apns_certificate"
        case fcmServiceAccount = "fcm_service_account"
        case fcmProjectKey = "fcm_project_key"
    }

    /// Its id: part of what the seal authenticates, so it is handed out before sealing (`nextCredentialID`).
    public let id: Int64
    /// What the material is.
    public let kind: Kind
    /// Its name, unique.
    public let name: String
    /// Which key sealed it.
    public let sealKeyID: String
    /// The sealed material; never in a log.
    public let sealed: [UInt8]
    /// What is not secret (APNs key id and team id, Google project id), a flat JSON object.
    public let attributes: String
    /// SHA-256 of the material, hex: what people compare.
    public let fingerprint: String
    /// When it expires; nil if it does not.
    public let expiresAt: DatabaseTime?

    /// A credential to store.
    public init(
        id: Int64,
        kind: Kind,
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
