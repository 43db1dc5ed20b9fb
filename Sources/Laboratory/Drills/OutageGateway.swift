import Administration
import Foundation
import PushCore
import Store

/// The simulator of one row of an outage drill.
struct OutageGateway: Sendable {
    /// Milliseconds until an answer.
    private static let latency: Int64 = 200
    /// Streams that may be open on a connection, and connections of a child, as the external accounts say: with the latency 80 messages a
    /// second for each application, so that all rows together leave the machine time to spare.
    private static let streams: [String: Int64] = ["apns": 16, "fcm": 2]
    static let connections: [Platform: Int64] = [.ios: 1, .android: 8]
    /// Messages a second of an application, by latency and streams.
    static let nominalRate: Int64 = 80
    /// Seconds for which access tokens last where the endpoint of access tokens goes out: they have to be fetched anew meanwhile.
    static let tokenLifetime = 20

    let row: OutageRow
    let simulator: TestSimulator
    /// Where it listens.
    let report: SimulatorReport
    /// The network in which it is alone on a host; `nil`: it runs on this one.
    let network: DrillNetwork?
    private let control: SimulatorControl

    /// Starts the simulator of a row.
    init(_ row: OutageRow, site: DrillSite, network: DrillNetwork?) async throws {
        let folder = site.folder + "/gateways/" + row.name
        for part in ["/log", "/run"] {
            try FileManager.default.createDirectory(atPath: folder + part, withIntermediateDirectories: true)
        }
        let simulator = TestSimulator(site: folder)
        site.onCleanup { try? await simulator.process.kill() }
        var arguments = ["--record", site.recordFile]
        if case .tokens = row.fcm { arguments += ["--token-lifetime", String(Self.tokenLifetime)] }
        if let network {
            arguments += [
                "--host", network.gatewayAddress(ofHost: 0), "--control-host", network.databaseAddress(ofHost: 0),
            ]
        }
        report = try await simulator.start(site.programs, arguments, wrapper: try network?.wrapper(0) ?? [])
        control = SimulatorControl(report)
        self.row = row
        self.simulator = simulator
        self.network = network
    }

    /// Everything that it has counted.
    func counts() async throws -> GatewayCounts {
        try JSONBody.decode(GatewayCounts.self, from: try await control.get("/counters"))
    }

    /// Serves as usual.
    func serve(seed: UInt64) async throws {
        for gateway in GatewayPlan.both { try await set(gateway, nil, seed) }
    }

    /// Serves as fast as it can, for what is left.
    func speedUp(seed: UInt64) async throws {
        for gateway in GatewayPlan.both {
            var plan = GatewayPlan()
            plan.latencyMilliseconds = 0
            try await control.post("/faults", plan.json(gateway: gateway, seed: seed))
        }
    }

    /// Begins the outage.
    func begin(seed: UInt64) async throws {
        for platform in row.platforms {
            switch row.action(platform) {
            case .plan(let outage): try await set(Self.name(platform), outage, seed)
            case .tokens(let answer): try await control.post("/oauth", answer)
            // One process on one host plays both gateways.
            case .freeze where platform == row.platforms.first: signal(SIGSTOP)
            case .cut where platform == row.platforms.first: try await network?.cutGateways(0)
            case .freeze, .cut, nil: break
            }
        }
    }

    /// Ends the outage.
    func end(seed: UInt64) async throws {
        for platform in row.platforms {
            switch row.action(platform) {
            case .plan: try await set(Self.name(platform), nil, seed)
            case .tokens: try await control.post("/oauth", "{}")
            case .freeze where platform == row.platforms.first: signal(SIGCONT)
            case .cut where platform == row.platforms.first: try await network?.healGateways(0)
            case .freeze, .cut, nil: break
            }
        }
    }

    /// The name of a platform's gateway.
    static func name(_ platform: Platform) -> String { platform == .ios ? "apns" : "fcm" }

    /// Whether it can be asked while it is out.
    var answersMeanwhile: Bool { if case .freeze = row.apns { false } else { true } }

    private func set(_ gateway: String, _ outage: Cell?, _ seed: UInt64) async throws {
        var plan = GatewayPlan([("max_concurrent_streams", .integer(Self.streams[gateway] ?? 1))])
        plan.latencyMilliseconds = Self.latency
        if let outage { plan.faults.append(("outage", outage)) }
        try await control.post("/faults", plan.json(gateway: gateway, seed: seed))
    }

    private func signal(_ signal: Int32) {
        guard let process = simulator.process.running else { return }
        kill(process.id, signal)
    }
}

/// One of the ways in which gateways are out, with a gateway of its own for an application of each platform.
struct OutageRow: Sendable {
    /// What is done to a gateway.
    enum Action: Sendable {
        /// The value of `outage` in its plan.
        case plan(Cell)
        /// What its endpoint of access tokens is told, as JSON; the tokens that are held expire meanwhile.
        case tokens(String)
        /// The process is stopped: its sockets stay, and nobody reads them.
        case freeze
        /// Packets to and from it are lost.
        case cut
    }

    /// Its name; the applications are called after it.
    let name: String
    /// What is done to APNs and to FCM; `nil`: there is no such application.
    var apns: Action?
    var fcm: Action?
    /// Not everything is refused: requests that are served go on, so their number says nothing.
    var isPartial = false
    /// It is noticed by silence only, which the PING timeout ends, and not by an answer or a refused connection.
    var isSilent = false
    /// What APNs says of it is about the message: an attempt each time (`TooManyRequests` is of one token).
    var apnsCountsAttempts = false
    /// How many single messages are sent while it is out, beside the bulk delivery.
    var singles = 0

    /// Whether no connection comes about at all, so that dials are all that the gateway sees.
    var refusesConnections: Bool { ["refused", "protocol", "tls"].contains(name) }

    /// The gateways of the row.
    var platforms: [Platform] { (apns == nil ? [] : [.ios]) + (fcm == nil ? [] : [.android]) }

    /// What is done to the gateway of a platform.
    func action(_ platform: Platform) -> Action? { platform == .ios ? apns : fcm }

    private static func reason(_ reason: String, retryAfter: String? = nil, share: Double = 1) -> Action {
        answer([("reason", .text(reason))], retryAfter, share)
    }

    /// An answer that is no gateway's.
    private static func page(_ status: Int64, _ title: String) -> Action {
        answer(
            [
                ("status", .integer(status)), ("headers", .object([("content-type", "text/html")])),
                ("body", .text("<html><head><title>\(title)</title></head><body><h1>\(title)</h1></body></html>")),
            ],
            nil,
            1
        )
    }

    private static func answer(_ fields: [(String, Cell)], _ retryAfter: String?, _ share: Double) -> Action {
        let after = retryAfter.map { [("retry_after", Cell.text($0))] } ?? []
        return .plan(.object([("answer", .object(fields + after)), ("share", .number(share))]))
    }

    private static func connections(_ what: String) -> Action { .plan(.object([("connections", .text(what))])) }

    private static let silence = answer([("silence", .flag(true))], nil, 1)

    static let all = [
        OutageRow(name: "unavailable", apns: reason("ServiceUnavailable"), fcm: reason("UNAVAILABLE")),
        OutageRow(
            name: "retry-after",
            apns: reason("ServiceUnavailable", retryAfter: "2"),
            fcm: reason("UNAVAILABLE", retryAfter: "1")
        ),
        OutageRow(
            name: "half",
            apns: reason("ServiceUnavailable", share: 0.5),
            fcm: reason("UNAVAILABLE", share: 0.5),
            isPartial: true
        ),
        OutageRow(name: "internal", apns: reason("InternalServerError"), fcm: reason("INTERNAL")),
        OutageRow(
            name: "quota",
            apns: reason("TooManyRequests"),
            fcm: reason("QUOTA_EXCEEDED"),
            apnsCountsAttempts: true
        ),
        OutageRow(name: "balancer", apns: page(421, "Misdirected Request"), fcm: page(502, "Bad Gateway")),
        OutageRow(name: "proxy", apns: page(407, "Proxy Authentication Required"), fcm: page(400, "Bad Request")),
        OutageRow(name: "refused", apns: connections("refused"), fcm: connections("refused")),
        // What a server of another protocol says; the sockets stay open, so that only the client knows that it is over.
        OutageRow(name: "protocol", apns: connections("broken"), fcm: connections("broken")),
        OutageRow(
            name: "singles",
            apns: reason("ServiceUnavailable"),
            fcm: reason("UNAVAILABLE"),
            singles: 200
        ),
        OutageRow(name: "tls", apns: connections("tls_alert"), fcm: connections("closed")),
        OutageRow(name: "silent", apns: silence, fcm: silence, isSilent: true),
        OutageRow(name: "frozen", apns: .freeze, fcm: .freeze, isSilent: true),
        OutageRow(name: "dropped", apns: .cut, fcm: .cut, isSilent: true),
        OutageRow(name: "token-500", fcm: .tokens(#"{"answer":{"status":500,"body":"{\"error\":\"internal\"}"}}"#)),
        OutageRow(name: "token-refused", fcm: .tokens(#"{"closed":true}"#)),
    ]
}
