import Foundation
import GatewaySimulator

/// The simulator's report on standard output.
struct StartReport {
    private struct Address: Encodable {
        var host: String
        var port: Int
    }

    private struct FCMAddress: Encodable {
        var host: String
        var port: Int
        var tokenUri: String
    }

    private struct APNsCredential: Encodable {
        var keyFile: String
        var keyId: String
        var teamId: String
        var topics: [String]
        var certificateFile: String
        var otherCertificateFile: String
        var universalCertificateFile: String
        var expiredCertificateFile: String
        var certificatePassphrase: String
    }

    private struct FCMCredential: Encodable {
        var serviceAccountFile: String
        var projectId: String
    }

    private struct FCMLegacyCredential: Encodable {
        var projectKeyFile: String
    }

    private struct Credentials: Encodable {
        var apns: APNsCredential
        var fcm: FCMCredential
        var fcmLegacy: FCMLegacyCredential
    }

    private struct Line: Encodable {
        var apns: Address
        var fcm: FCMAddress
        var fcmLegacy: Address
        var apnsBinary: Address
        var apnsFeedback: Address
        var control: Address
        var ca: String
        var credentials: Credentials
    }

    /// One line for programs.
    let json: String
    /// A few lines of text for users.
    let text: String

    /// A report on a simulator that listens on these addresses.
    init(_ simulator: GatewaySimulator, host: String, controlHost: String) {
        let credentials = simulator.credentials
        let line = Line(
            apns: Address(host: host, port: simulator.apnsPort),
            fcm: FCMAddress(host: host, port: simulator.fcmPort, tokenUri: credentials.tokenURI),
            fcmLegacy: Address(host: host, port: simulator.fcmLegacyPort),
            apnsBinary: Address(host: host, port: simulator.apnsBinaryPort),
            apnsFeedback: Address(host: host, port: simulator.apnsFeedbackPort),
            control: Address(host: controlHost, port: simulator.controlPort),
            ca: simulator.caFile,
            credentials: Credentials(
                apns: APNsCredential(
                    keyFile: credentials.apnsKeyFile,
                    keyId: credentials.apnsKeyID,
                    teamId: credentials.apnsTeamID,
                    topics: credentials.apnsTopics,
                    certificateFile: credentials.apnsCertificateFile,
                    otherCertificateFile: credentials.apnsOtherCertificateFile,
                    universalCertificateFile: credentials.apnsUniversalCertificateFile,
                    expiredCertificateFile: credentials.apnsExpiredCertificateFile,
                    certificatePassphrase: credentials.apnsCertificatePassphrase
                ),
                fcm: FCMCredential(
                    serviceAccountFile: credentials.serviceAccountFile,
                    projectId: credentials.projectID
                ),
                fcmLegacy: FCMLegacyCredential(projectKeyFile: credentials.fcmProjectKeyFile)
            )
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        json = String(decoding: (try? encoder.encode(line)) ?? Data(), as: UTF8.self)
        text = """
            APNs     https://\(host):\(simulator.apnsPort)  key \(credentials.apnsKeyFile) (key id \(credentials.apnsKeyID), team \
            \(credentials.apnsTeamID), topics \(credentials.apnsTopics.isEmpty ? "any" : credentials.apnsTopics.joined(separator: " ")))
                     or certificate \(credentials.apnsCertificateFile) (passphrase \(credentials.apnsCertificatePassphrase))
            FCM      https://\(host):\(simulator.fcmPort)  service account \(credentials.serviceAccountFile) (project \
            \(credentials.projectID))
            legacy   https://\(host):\(simulator.fcmLegacyPort)  project key \(credentials.fcmProjectKeyFile)
            binary   \(host):\(simulator.apnsBinaryPort)  feedback \(host):\(simulator.apnsFeedbackPort)  certificate \
            \(credentials.apnsCertificateFile)
            OAuth    \(credentials.tokenURI)
            control  http://\(controlHost):\(simulator.controlPort)
            CA       \(simulator.caFile)
            """
    }

    /// The final line of counters.
    func summary(_ counters: SimulatorCounters) -> String {
        let parts = SimulatedGateway.allCases.map { gateway in
            let counters = counters[gateway]
            return "\(gateway.rawValue): \(counters.accepted) accepted (\(counters.uniqueAccepted) distinct, "
                + "\(counters.duplicates) more than once), \(counters.rejectedTotal) rejected, \(counters.unanswered) unanswered, "
                + "\(counters.connectionsOpened) connections"
        }
        return parts.joined(separator: "; ")
    }
}
