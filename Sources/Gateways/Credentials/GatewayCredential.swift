import PushCore

/// What an application proves itself with to its gateway, as opened from the database.
///
/// It has no description, so that a log cannot show it by accident.
public enum GatewayCredential: Sendable, CustomStringConvertible, CustomReflectable {
    /// APNs token authentication: the `.p8` file with the key's id and the team's id, ten characters each.
    case apnsTokenKey(keyID: String, teamID: String, pem: [UInt8])
    /// APNs with a client certificate: the `.p12` file and its passphrase, "" for none.
    case apnsCertificate(pkcs12: [UInt8], passphrase: String)
    /// FCM HTTP v1: the service account's JSON file.
    case serviceAccount(json: [UInt8])
    /// FCM legacy HTTP: the project's server key.
    case projectKey(String)

    /// What kind of credential it is, without its material.
    public var description: String {
        switch self {
        case .apnsTokenKey(let keyID, let teamID, _): "APNs key \(keyID) of team \(teamID)"
        case .apnsCertificate: "APNs certificate"
        case .serviceAccount: "service account"
        case .projectKey: "project key"
        }
    }

    /// Shows nothing of the material.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

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

/// The server key of a Firebase project, for legacy FCM.
public struct FCMProjectKey: Sendable, CustomStringConvertible, CustomReflectable {
    private let key: String

    /// Takes a key; white space around it is left out.
    ///
    /// - Throws: `GatewayCredentialError` when it cannot be one; never with the key.
    public init(_ text: String) throws(GatewayCredentialError) {
        let key = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        guard !key.isEmpty else {
            throw GatewayCredentialError(
                .missing,
                "the project key is empty: copy the server key from the Firebase console (project settings, Cloud Messaging)"
            )
        }
        guard key.allSatisfy({ $0.isASCII && $0 > " " && $0 != "\u{7F}" }) else {
            throw GatewayCredentialError(
                .malformed,
                "the project key contains characters that no server key has: copy it from the Firebase console (project settings, Cloud Messaging)"
            )
        }
        self.key = String(key)
    }

    /// What it is, without the key.
    public var description: String { "project key" }

    /// Shows nothing of the key.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The value of the field `Authorization`.
    var authorization: String { "key=" + key }
}

/// A credential that cannot be used as it stands.
///
/// The description never contains the credential's material.
public struct GatewayCredentialError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    public enum Code: String, Sendable, Hashable {
        /// It is not of the form that the gateway's credentials have.
        case malformed
        /// A part of it is missing.
        case missing
        /// It is of another kind than the connector needs.
        case wrongKind
        /// Its passphrase is another one.
        case wrongPassphrase
        /// Its time is over, or has not come yet.
        case expired
        /// It is for another application or another environment.
        case wrongApplication
        /// It reads what the settings of this host do not allow.
        case notAllowed
    }

    /// What is wrong with it.
    public let code: Code
    /// Which credential, what is wrong, and what to do.
    public let message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
