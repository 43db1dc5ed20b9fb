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

    /// Nothing of the material.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
