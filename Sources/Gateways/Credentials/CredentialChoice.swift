import PushCore

/// Which credentials a connector takes.
public enum CredentialChoice {
    /// What a connector takes, for people.
    public static func wanted(_ connector: Connector) -> String {
        switch connector {
        case .iosHTTP2: "an APNs key (.p8) or an APNs certificate (.p12)"
        case .iosBinary: "an APNs certificate (.p12)"
        case .androidV1, .androidV2: "a service account (JSON file) or a project key"
        }
    }

    /// The error of a credential that the connector does not take.
    public static func mismatch(_ connector: Connector, _ credential: GatewayCredential) -> GatewayCredentialError {
        GatewayCredentialError(
            .wrongKind,
            "connector \(connector.rawValue) needs \(wanted(connector)), not \(credential.kindText): set the application's credential, or choose another external account for it"
        )
    }
}

extension GatewayCredential {
    /// The kind with its article, for people.
    var kindText: String {
        switch self {
        case .apnsTokenKey: "an APNs key"
        case .apnsCertificate: "an APNs certificate"
        case .serviceAccount: "a service account"
        case .projectKey: "a project key"
        }
    }
}
