import Administration
import Foundation

/// A gateway other than the simulator, which records accepted pushes in the same form.
struct ExternalGateway: Sendable, Equatable {
    /// Where its APNs listens.
    let apns: SimulatorReport.Address
    /// Where its FCM listens.
    let fcm: SimulatorReport.Address
    /// The PEM file of its certificate authority.
    let ca: String
    /// The file in which it records each push.
    let recordFile: String
    /// The credentials that it accepts. `nil`: it checks none, so the simulator's credentials are used, and the
    /// simulator's token endpoint issues the access tokens.
    let credentials: SimulatorReport.Credentials?

    /// What the engine needs to know about the gateway.
    ///
    /// - Parameters:
    ///   - simulator: The simulator that provides credentials and token endpoint; `nil` if the gateway has credentials.
    ///   - folder: The folder for the file that combines the certificates of both.
    func report(_ simulator: SimulatorReport?, folder: String) throws -> SimulatorReport {
        guard let credentials = credentials ?? simulator?.credentials else {
            throw DrillFailure("no credentials for the gateway at \(apns.host):\(apns.port)")
        }
        return SimulatorReport(
            apns: apns,
            fcm: fcm,
            // An external gateway has no control port.
            control: SimulatorReport.Address(host: "", port: 0),
            ca: try simulator.map { try bundle(with: $0.ca, folder) } ?? ca,
            credentials: credentials
        )
    }

    private func bundle(with other: String, _ folder: String) throws -> String {
        let texts = try [ca, other].map { try String(contentsOfFile: $0, encoding: .utf8) }
        let file = folder + "/authorities.pem"
        try texts.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }
}
