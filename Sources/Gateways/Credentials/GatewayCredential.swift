import PushCore

/// What an application authenticates with to its gateway, as opened from the database.
///
/// It has no description, so a log cannot show it by accident.
package enum GatewayCredential: Sendable, CustomStringConvertible, CustomReflectable {
    /// APNs token authentication: the `.p8` file with the key's id and the team's id, ten characters each.
    case apnsTokenKey(keyID: String, teamID: String, pem: [UInt8])
    /// APNs with a client certificate: the `.p12` file and its passphrase, "" for none.
    case apnsCertificate(pkcs12: [UInt8], passphrase: String)
    /// FCM HTTP v1: the service account's JSON file.
    case serviceAccount(json: [UInt8])
    /// FCM legacy HTTP: the project's server key.
    case projectKey(String)

    /// The kind of credential, without its material.
    package var description: String {
        switch self {
        case .apnsTokenKey(let keyID, let teamID, _): "APNs key \(keyID) of team \(teamID)"
        case .apnsCertificate: "APNs certificate"
        case .serviceAccount: "service account"
        case .projectKey: "project key"
        }
    }

    /// Shows none of the material.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Which credentials a connector accepts.
package enum CredentialChoice {
    /// What a connector accepts, in words.
    package static func wanted(_ connector: Connector) -> String { connector.facts.credentialWords }

    /// The error for a credential that the connector does not accept.
    package static func mismatch(_ connector: Connector, _ credential: GatewayCredential) -> GatewayCredentialError {
        GatewayCredentialError(
            .wrongKind,
            "connector \(connector.rawValue) needs \(wanted(connector)), not \(credential.kindText): set the application's credential, or choose another external account for it"
        )
    }
}

extension GatewayCredential {
    package var kind: CredentialKind {
        switch self {
        case .apnsTokenKey: .apnsKey
        case .apnsCertificate: .apnsCertificate
        case .serviceAccount: .fcmServiceAccount
        case .projectKey: .fcmProjectKey
        }
    }

    /// The kind with its article, for texts.
    var kindText: String {
        switch self {
        case .apnsTokenKey: "an APNs key"
        case .apnsCertificate: "an APNs certificate"
        case .serviceAccount: "a service account"
        case .projectKey: "a project key"
        }
    }
}
