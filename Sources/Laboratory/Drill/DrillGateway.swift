import Administration
import Foundation

/// How the simulator behaves from its start on.
struct DrillGateway: Sendable {
    /// Milliseconds until an answer: long enough that many streams are open whenever a fault comes.
    var latencyMilliseconds = 50
    /// Streams that may be open on one connection: with the latency it sets the pace.
    var streams = 200
    /// The address that it listens on.
    var host = "127.0.0.1"
    /// Threads that serve connections.
    var threads = 1
    /// Further words of its command line.
    var arguments: [String] = []

    var commandLine: [String] {
        [
            "--latency", String(latencyMilliseconds), "--max-streams", String(streams), "--host", host, "--threads",
            String(threads),
        ] + arguments
    }
}

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
            throw DrillFailure("no credentials for the gateway at \(apns.host):\(apns.port)")
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

/// What the simulated gateways do wrong, as their control port takes it. It replaces whatever they did before.
struct GatewayPlan: Sendable {
    static let both = ["apns", "fcm"]

    var latencyMilliseconds: Int64 = 50
    /// The faults, by the names of the control port.
    var faults: [(String, Cell)] = []

    /// Nothing but the latency.
    static let calm = GatewayPlan()

    /// A plan with these faults.
    init(_ faults: [(String, Cell)] = []) {
        self.faults = faults
    }

    /// Rejects a share of the pushes that would have been accepted.
    static func errors(_ reason: String, rate: Double, retryAfter: String) -> GatewayPlan {
        GatewayPlan([
            (
                "errors",
                .list([
                    .object([("reason", .text(reason)), ("rate", .number(rate)), ("retry_after", .text(retryAfter))])
                ])
            )
        ])
    }

    /// The plan of one gateway as JSON.
    func json(gateway: String, seed: UInt64) -> String {
        var pairs: [(String, Cell)] = [
            ("gateway", .text(gateway)), ("seed", .integer(Int64(truncatingIfNeeded: seed & UInt64(Int64.max)))),
        ]
        pairs.append(("latency", .object([("fixed", .integer(latencyMilliseconds))])))
        return Cell.object(pairs + faults).json
    }
}

/// Everything that the simulated gateways have counted.
struct GatewayCounts: Sendable, Decodable {
    /// What came during an outage, in each of its seconds.
    struct Outage: Sendable, Decodable {
        var requests: [Int64]
        /// Connections.
        var dials: [Int64]
        var tokenRequests: [Int64]

        enum CodingKeys: String, CodingKey {
            case requests, dials
            case tokenRequests = "token_requests"
        }
    }

    struct Gateway: Sendable, Decodable {
        /// Pushes that were accepted, each time.
        var accepted: Int64
        /// Pushes that were rejected, by reason.
        var rejected: [String: Int64]
        /// Streams that were refused, or disowned by a GOAWAY.
        var refused: Int64
        var goaways: Int64
        /// Connections that were reset.
        var resets: Int64
        /// Requests that lost their answer by a reset.
        var cutOff: Int64
        /// Stream limits that were announced to open connections.
        var limitChanges: Int64
        /// Requests that wait for their answer now.
        var waiting: Int64
        /// Connections that are open now.
        var connections: Int64
        /// For each connection that its sender broke off with requests on it: the requests that were open at the gateway then.
        var breaks: [Int64]
        /// Faults that came while at least 100 requests waited.
        var faultsUnderLoad: Int64
        /// The fewest requests that were open at one of these faults; `nil` without any.
        var leastWaitingAtFault: Int64?
        /// What came during the last outage; `nil` without any.
        var outage: Outage?

        enum CodingKeys: String, CodingKey {
            case accepted, rejected, refused, goaways, resets, waiting, connections, breaks, outage
            case cutOff = "cut_off"
            case limitChanges = "limit_changes"
            case faultsUnderLoad = "faults_under_load"
            case leastWaitingAtFault = "least_waiting_at_fault"
        }
    }

    var apns: Gateway
    var fcm: Gateway

    /// The counts by the gateway's name.
    var byName: [(name: String, counts: Gateway)] { [("apns", apns), ("fcm", fcm)] }
    /// Both gateways' requests that wait.
    var waiting: Int64 { apns.waiting + fcm.waiting }
    /// Both gateways' faults under load.
    var faultsUnderLoad: Int64 { apns.faultsUnderLoad + fcm.faultsUnderLoad }
    /// The fewest requests that were open at one of these faults, 0 without any.
    var leastWaitingAtFault: Int64 { byName.compactMap(\.counts.leastWaitingAtFault).min() ?? 0 }

    /// How often a reason was given.
    func rejected(_ reason: String) -> Int64 {
        (apns.rejected[reason] ?? 0) + (fcm.rejected[reason] ?? 0)
    }
}
