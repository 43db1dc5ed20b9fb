/// The sample credentials that the simulated gateways accept.
package struct SimulatorCredentials: Sendable {
    /// The path of the APNs signing key, a .p8 file.
    package var apnsKeyFile: String
    /// The same key, PKCS#8 in PEM.
    package var apnsKeyPEM: String
    /// The key's id, ten characters.
    package var apnsKeyID: String
    /// The team's id, ten characters.
    package var apnsTeamID: String
    /// The topics that the key may send to; empty means any.
    package var apnsTopics: [String]
    /// The path of a certificate for the simulated environment, a .p12 file.
    package var apnsCertificateFile: String
    /// The path of a certificate for the other environment.
    package var apnsOtherCertificateFile: String
    /// The path of a certificate for both environments.
    package var apnsUniversalCertificateFile: String
    /// The path of an expired certificate.
    package var apnsExpiredCertificateFile: String
    /// The passphrase of these files.
    package var apnsCertificatePassphrase: String
    /// The path of the service account file.
    package var serviceAccountFile: String
    /// The contents of that file.
    package var serviceAccountJSON: String
    /// The service account's RSA key, PKCS#8 in PEM.
    package var serviceAccountKeyPEM: String
    /// The service account's e-mail address, the issuer of its grants.
    package var clientEmail: String
    package var tokenURI: String
    /// The Firebase project.
    package var projectID: String
    /// The path of the file with the project's server key, for legacy FCM.
    package var fcmProjectKeyFile: String
    /// The key in that file.
    package var fcmProjectKey: String
}
