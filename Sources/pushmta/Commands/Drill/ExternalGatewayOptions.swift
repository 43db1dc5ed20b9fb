import ArgumentParser
import Foundation

/// The flags that name another gateway than the simulator.
struct ExternalGatewayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Another APNs gateway than the simulator.", valueName: "host:port"))
    var apns: String?

    @Option(help: ArgumentHelp("Another FCM gateway than the simulator.", valueName: "host:port"))
    var fcm: String?

    @Option(help: ArgumentHelp("The PEM file of its certificate authority.", valueName: "file"))
    var ca: String?

    @Option(
        help: ArgumentHelp(
            "The file in which it records each push as a line {\"id\",\"status\",\"time\"}.",
            valueName: "file"
        )
    )
    var record: String?

    @Option(help: ArgumentHelp("The .p8 key that its APNs accepts.", valueName: "file"))
    var apnsKey: String?

    @Option(help: ArgumentHelp("The id of that key.", valueName: "id"))
    var apnsKeyID: String?

    @Option(help: ArgumentHelp("The team of that key.", valueName: "id"))
    var apnsTeamID: String?

    @Option(help: ArgumentHelp("The topic (bundle id) that its APNs accepts.", valueName: "topic"))
    var apnsTopic = "com.example.app"

    @Option(help: ArgumentHelp("The service account file that its FCM accepts.", valueName: "file"))
    var fcmServiceAccount: String?

    /// Refuses a part of a gateway.
    func check() throws {
        let places = [apns, fcm, ca, record].compactMap { $0 }
        let credentials = [apnsKey, apnsKeyID, apnsTeamID, fcmServiceAccount].compactMap { $0 }
        guard places.isEmpty || places.count == 4 else {
            throw ValidationError("Another gateway needs all of --apns, --fcm, --ca and --record.")
        }
        guard credentials.isEmpty || (credentials.count == 4 && !places.isEmpty) else {
            throw ValidationError(
                "The credentials of another gateway are all of --apns-key, --apns-key-id, --apns-team-id and "
                    + "--fcm-service-account; leave out all of them if it accepts any."
            )
        }
    }

    /// The gateway; `nil` if none was named.
    func gateway() throws -> ExternalGateway? {
        guard let apns, let fcm, let ca, let record else { return nil }
        return ExternalGateway(
            apns: try Self.address(apns),
            fcm: try Self.address(fcm),
            ca: Self.path(ca),
            recordFile: Self.path(record),
            credentials: credentials
        )
    }

    private var credentials: SimulatorReport.Credentials? {
        guard let apnsKey, let apnsKeyID, let apnsTeamID, let fcmServiceAccount else { return nil }
        return SimulatorReport.Credentials(
            apns: SimulatorReport.APNsCredentials(
                keyFile: Self.path(apnsKey),
                keyId: apnsKeyID,
                teamId: apnsTeamID,
                topics: [apnsTopic]
            ),
            fcm: SimulatorReport.FCMCredentials(serviceAccountFile: Self.path(fcmServiceAccount), projectId: "")
        )
    }

    private static func address(_ text: String) throws -> SimulatorReport.Address {
        guard let colon = text.lastIndex(of: ":"), let port = Int32(text[text.index(after: colon)...]),
            (1...65_535).contains(port), colon != text.startIndex
        else { throw CommandFailure(.data, "\(text) is no address: give HOST:PORT.") }
        return SimulatorReport.Address(host: String(text[..<colon]), port: port)
    }

    /// The processes of a drill have another working folder.
    private static func path(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
