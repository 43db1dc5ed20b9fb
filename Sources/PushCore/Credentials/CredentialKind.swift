/// The kind of secret that a credential holds.
package enum CredentialKind: String, Sendable, CaseIterable {
    case apnsKey = "apns_key"
    case apnsCertificate = "apns_certificate"
    case fcmServiceAccount = "fcm_service_account"
    case fcmProjectKey = "fcm_project_key"
}

extension CredentialKind {
    /// Whether a connector can send with a credential of this kind.
    package func suits(_ connector: Connector) -> Bool { connector.facts.formats[self] != nil }

    /// The platform whose gateways accept it.
    package var platform: Platform {
        switch self {
        case .apnsKey, .apnsCertificate: .ios
        case .fcmServiceAccount, .fcmProjectKey: .android
        }
    }

    /// The kind with its article, as shown to people.
    package var text: String {
        switch self {
        case .apnsKey: "an APNs key (.p8)"
        case .apnsCertificate: "an APNs certificate (.p12)"
        case .fcmServiceAccount: "a service account"
        case .fcmProjectKey: "a project key"
        }
    }
}
