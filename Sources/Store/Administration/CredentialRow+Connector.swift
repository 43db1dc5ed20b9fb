import PushCore

extension CredentialRow.Kind {
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
