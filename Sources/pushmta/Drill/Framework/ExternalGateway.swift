import Foundation

/// A gateway that is not ours, but keeps a record of what it accepted as the simulator does.
struct ExternalGateway: Sendable, Equatable {
    /// Where its APNs listens.
    let apns: SimulatorReport.Address
    /// Where its FCM listens.
    let fcm: SimulatorReport.Address
    /// The PEM file of its certificate authority.
    let ca: String
    /// The file that it records each push in.
    let recordFile: String
    /// The credentials that it accepts; `nil`: it does not check any, so those of the simulator do, whose token endpoint then
    /// gives the access tokens.
    let credentials: SimulatorReport.Credentials?

    /// What the engine has to know of the gateway.
    ///
    /// - Parameters:
    ///   - simulator: The simulator that stands in for credentials and token endpoint; `nil` with credentials.
    ///   - folder: Where the certificates of both are put together.
    func report(_ simulator: SimulatorReport?, folder: String) throws -> SimulatorReport {
        guard let credentials = credentials ?? simulator?.credentials else {
            throw DrillSetback("no credentials for the gateway at \(apns.host):\(apns.port)")
        }
        return SimulatorReport(
            apns: apns,
            fcm: fcm,
            // It has no control port of ours.
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
