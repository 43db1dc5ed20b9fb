import Administration
import CurlClient
import Foundation
import PushCore

/// The gateway simulator as a process.
struct TestSimulator: Sendable {
    /// How long it may take until it listens.
    private static let startLimit = Duration.seconds(30)
    /// The time between two looks whether it does.
    private static let lookInterval = Duration.milliseconds(20)

    /// Where it keeps its certificate authority, credentials and ports.
    let folder: String
    let process: BackgroundProcess

    /// A simulator whose state, log and record are in `site`'s folder; nothing is started.
    init(site: String) {
        folder = site + "/simulator"
        process = BackgroundProcess(
            name: "gateway simulator",
            recordFile: site + "/run/simulator.pid",
            logFile: site + "/log/simulator.log"
        )
    }

    /// Starts it and returns where it listens and what it accepts.
    ///
    /// - Parameter wrapper: A command that becomes the simulator, such as `ip netns exec NAME`.
    func start(
        _ programs: Executables,
        _ arguments: [String] = [],
        wrapper: [String] = []
    ) async throws -> SimulatorReport {
        let command = wrapper + [try programs.gatewaySimulator(), "--state", folder, "--json"] + arguments
        try await process.start(command[0], Array(command.dropFirst()))
        let deadline = ContinuousClock.now.advanced(by: Self.startLimit)
        while ContinuousClock.now < deadline {
            if let report { return report }
            guard process.running != nil else { break }
            try await Task.sleep(for: Self.lookInterval)
        }
        throw CommandFailure(
            .software,
            "The gateway simulator does not start. Its log \(process.logFile) ends with:\n\(process.stderrTail)"
        )
    }

    /// Has it run before all others, where that is possible: on a CPU that is full it would else take longer to answer than it was told to,
    /// and a gateway has machines of its own.
    ///
    /// - Returns: Whether it does.
    func comeFirst() -> Bool { process.comeFirst() }

    /// What to say of that beside a measurement.
    static func words(comesFirst: Bool) -> String {
        comesFirst
            ? "goes before others on the CPU (niceness -10)"
            : "shares the CPU (to go before others takes the right to set niceness), and answers later where that is full"
    }

    /// The line that the simulator prints when it listens; it goes into its log.
    private var report: SimulatorReport? {
        let log = FileManager.default.contents(atPath: process.logFile) ?? Data()
        let lines = log.split(separator: UInt8(ascii: "\n"))
        return lines.lazy.compactMap { try? JSONBody.decode(SimulatorReport.self, from: $0) }.first
    }
}

/// The control port of a running simulator.
struct SimulatorControl: Sendable {
    /// The simulator's own words about where it listens.
    let report: SimulatorReport
    private let client = CurlClient()

    /// The control port of the simulator that printed this report.
    init(_ report: SimulatorReport) {
        self.report = report
    }

    /// What the simulator has counted so far.
    func counters() async throws -> SimulatorCount {
        try JSONBody.decode(SimulatorCount.self, from: try await get("/counters"))
    }

    /// The answer to a question.
    func get(_ path: String) async throws -> [UInt8] {
        try await perform(CurlRequest(url: address(path)))
    }

    /// Tells it something: `body` is JSON.
    @discardableResult
    func post(_ path: String, _ body: String) async throws -> [UInt8] {
        try await perform(CurlRequest(method: "POST", url: address(path), body: Array(body.utf8)))
    }

    private func address(_ path: String) -> String {
        "http://\(report.control.host):\(report.control.port)\(path)"
    }

    private func perform(_ request: CurlRequest) async throws -> [UInt8] {
        let response = try await client.perform(request)
        guard response.status == 200 else {
            throw CommandFailure(
                .software,
                "The gateway simulator answered \(response.status) to \(request.method) \(request.url): "
                    + String(decoding: response.body, as: UTF8.self)
            )
        }
        return response.body
    }
}

/// What the simulator prints when it is ready: where it listens and what it accepts.
struct SimulatorReport: Sendable, Decodable, Equatable {
    struct Address: Sendable, Decodable, Equatable {
        let host: String
        let port: Int32
    }
    /// Credentials of the simulated APNs.
    struct APNsCredentials: Sendable, Decodable, Equatable {
        let keyFile: String
        let keyId: String
        let teamId: String
        let topics: [String]
        /// A certificate for the environment that is played, one for the other, one for both and one whose time is over; `nil`
        /// where there are none.
        var certificateFile: String?
        var otherCertificateFile: String?
        var universalCertificateFile: String?
        var expiredCertificateFile: String?
        var certificatePassphrase: String?
    }
    /// Credentials of the simulated FCM.
    struct FCMCredentials: Sendable, Decodable, Equatable {
        let serviceAccountFile: String
        let projectId: String
    }
    /// Credentials of the simulated legacy FCM.
    struct FCMLegacyCredentials: Sendable, Decodable, Equatable {
        let projectKeyFile: String
    }
    struct Credentials: Sendable, Decodable, Equatable {
        let apns: APNsCredentials
        let fcm: FCMCredentials
        var fcmLegacy: FCMLegacyCredentials?
    }

    let apns: Address
    let fcm: Address
    /// Legacy FCM; `nil` where there is none.
    var fcmLegacy: Address?
    /// Binary APNs and its feedback service; `nil` where there are none.
    var apnsBinary: Address?
    var apnsFeedback: Address?
    let control: Address
    /// The certificate authority's PEM file.
    let ca: String
    let credentials: Credentials
}

extension SimulatorReport {
    /// The gateway at the end of a route.
    func address(_ route: TestRoute) throws -> Address {
        switch (route.connector, route.proof) {
        case (.iosBinary, _): try Self.known(apnsBinary, "binary gateway")
        case (_, .projectKey): try Self.known(fcmLegacy, "legacy gateway")
        case (.iosHTTP2, _): apns
        case (.androidV1, _), (.androidV2, _): fcm
        }
    }

    /// Something that an older simulator does not have.
    static func known<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else {
            throw CommandFailure(.unavailable, "The gateway simulator has no \(name): it is older than this program.")
        }
        return value
    }
}

/// What the simulated gateways have counted: by message id, so that lost and duplicate messages can be told.
struct SimulatorCount: Sendable, Decodable {
    struct Gateway: Sendable, Decodable {
        /// Pushes that were accepted, each time that one was.
        let accepted: Int64
        /// Pushes that were rejected, by the reason in the answer.
        let rejected: [String: Int64]
        /// Different messages that were accepted at least once.
        let uniqueAccepted: Int64
        /// Messages that were accepted more than once.
        let duplicates: Int64
        /// Requests to legacy FCM, where one may carry many messages.
        var requests: Int64? = nil
        /// Requests that are open right now and wait for their answer.
        let waiting: Int64
        /// Connections that are open now.
        let connections: Int64
        /// Faults of any kind that came while at least 100 requests were open.
        let faultsUnderLoad: Int64
        /// The fewest requests that were open at one of those; `nil` without any.
        let leastWaitingAtFault: Int64?

        enum CodingKeys: String, CodingKey {
            case uniqueAccepted = "unique_accepted"
            case faultsUnderLoad = "faults_under_load"
            case leastWaitingAtFault = "least_waiting_at_fault"
            case accepted, rejected, duplicates, waiting, connections, requests
        }
    }

    let apns: Gateway
    let fcm: Gateway
    let fcmLegacy: Gateway
    let apnsBinary: Gateway

    enum CodingKeys: String, CodingKey {
        case apns, fcm
        case fcmLegacy = "fcm-legacy"
        case apnsBinary = "apns-binary"
    }

    private var all: [Gateway] { [apns, fcm, fcmLegacy, apnsBinary] }

    /// Different messages that any gateway accepted.
    var accepted: Int64 { all.reduce(0) { $0 + $1.uniqueAccepted } }
    /// Messages that a gateway accepted more than once.
    var duplicates: Int64 { all.reduce(0) { $0 + $1.duplicates } }
    /// Pushes that any gateway accepted, each time.
    var acceptedTimes: Int64 { all.reduce(0) { $0 + $1.accepted } }
    /// Pushes that any gateway rejected.
    var rejected: Int64 { all.reduce(0) { $0 + $1.rejected.values.reduce(0, +) } }
    /// Requests that are open at any gateway.
    var waiting: Int64 { all.reduce(0) { $0 + $1.waiting } }
    /// Connections that are open to the gateway that has most: a child sends to one gateway.
    var mostConnections: Int64 { all.reduce(0) { max($0, $1.connections) } }
    /// Faults under load at any gateway.
    var faultsUnderLoad: Int64 { all.reduce(0) { $0 + $1.faultsUnderLoad } }
}
