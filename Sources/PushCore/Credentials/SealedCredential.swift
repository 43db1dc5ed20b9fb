/// What the material of a credential is.
public enum CredentialKind: String, Sendable, CaseIterable {
    case apnsKey = "apns_key"
    case apnsCertificate = "apns_certificate"
    case fcmServiceAccount = "fcm_service_account"
    case fcmProjectKey = "fcm_project_key"
}

extension CredentialKind {
    /// Whether a connector can send with a credential of this kind.
    public func suits(_ connector: Connector) -> Bool {
        switch self {
        case .apnsKey: connector == .iosHTTP2
        case .apnsCertificate: connector == .iosHTTP2 || connector == .iosBinary
        case .fcmServiceAccount, .fcmProjectKey: connector == .androidV1 || connector == .androidV2
        }
    }

    /// The platform whose gateways take it.
    public var platform: Platform {
        switch self {
        case .apnsKey, .apnsCertificate: .ios
        case .fcmServiceAccount, .fcmProjectKey: .android
        }
    }

    /// The kind with its article, for people.
    public var text: String {
        switch self {
        case .apnsKey: "an APNs key (.p8)"
        case .apnsCertificate: "an APNs certificate (.p12)"
        case .fcmServiceAccount: "a service account"
        case .fcmProjectKey: "a project key"
        }
    }
}

/// A credential as it is kept, with what is needed to open it.
///
/// ``CredentialKeyring`` opens it.
public struct SealedCredential: Sendable {
    /// Its id: part of what the seal authenticates.
    public let id: Int64
    public let kind: CredentialKind
    /// Its name, for people.
    public let name: String
    public let sealKeyID: String
    /// The sealed material; never in a log.
    public let sealed: [UInt8]
    /// What is not secret (APNs key id and team id), a flat JSON object.
    public let attributes: String

    /// Takes a credential as it is stored.
    public init(
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
