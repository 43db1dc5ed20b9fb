/// The sample credentials that the simulated gateways accept.
public struct SimulatorCredentials: Sendable {
    /// The path of the APNs signing key, a .p8 file.
    public var apnsKeyFile: String
    /// The same key, PKCS#8 in PEM.
    public var apnsKeyPEM: String
    /// The key's id, ten characters.
    public var apnsKeyID: String
    /// The team's id, ten characters.
    public var apnsTeamID: String
    /// The topics that the key may send to; empty means any.
    public var apnsTopics: [String]
    /// The path of a certificate for the environment that the simulator plays, a .p12 file.
    public var apnsCertificateFile: String
    /// The path of a certificate for the other environment.
    public var apnsOtherCertificateFile: String
    /// The path of a certificate for both environments.
    public var apnsUniversalCertificateFile: String
    /// The path of a certificate whose time is over.
    public var apnsExpiredCertificateFile: String
    /// The passphrase of these files.
    public var apnsCertificatePassphrase: String
    /// The path of the service account file.
    public var serviceAccountFile: String
    /// The same file's contents.
    public var serviceAccountJSON: String
    /// The service account's RSA key, PKCS#8 in PEM.
    public var serviceAccountKeyPEM: String
    /// The service account's e-mail address, the issuer of its grants.
    public var clientEmail: String
    /// The token endpoint.
    public var tokenURI: String
    /// The Firebase project.
    public var projectID: String
    /// The path of the file with the project's server key, for legacy FCM.
    public var fcmProjectKeyFile: String
    /// The same key.
    public var fcmProjectKey: String
}
