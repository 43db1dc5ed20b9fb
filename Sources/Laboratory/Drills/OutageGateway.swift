import Administration
import Foundation
import PushCore
import Store

/// The simulator for one row of an outage drill.
struct OutageGateway: Sendable {
    /// Milliseconds until an answer.
    private static let latency: Int64 = 200
    /// The maximum number of streams per connection; `connections` is the maximum number of connections per child, set
    /// in the external accounts. With the latency they allow 80 messages a second per application, so that all rows
    /// together leave the machine some capacity.
    private static let streams: [String: Int64] = ["apns": 16, "fcm": 2]
    static let connections: [Platform: Int64] = [.ios: 1, .android: 8]
    /// The messages a second of an application that follow from latency and streams.
    static let nominalRate: Int64 = 80
    /// The lifetime of access tokens in seconds, in the row whose token endpoint goes down. The tokens expire during
    /// the outage.
    static let tokenLifetime = 20

    let row: OutageRow
    let simulator: TestSimulator
    /// Where the simulator listens.
    let report: SimulatorReport
    /// The network in which the simulator has its own host; `nil` if it runs on this one.
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

    /// The simulator's counters.
    func counts() async throws -> GatewayCounts {
        try JSONBody.decode(GatewayCounts.self, from: try await control.get("/counters"))
    }

    /// Sets normal service.
    func serve(seed: UInt64) async throws {
        for gateway in GatewayPlan.both { try await set(gateway, nil, seed) }
    }

    /// Sets service at full speed, for the remaining messages.
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
            // One process simulates both gateways, so it is stopped or cut off once.
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

    /// Whether the simulator's control port answers during the outage.
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

/// One way in which gateways are down, with its own gateway for an application of each platform.
struct OutageRow: Sendable {
    /// What happens to a gateway.
    enum Action: Sendable {
        /// The value of `outage` in its plan.
        case plan(Cell)
        /// JSON for the faults of its token endpoint. The access tokens that the engine holds expire meanwhile.
        case tokens(String)
        /// The process is suspended. Its sockets stay open, but it does not read them.
        case freeze
        /// Packets to and from it are dropped.
        case cut
    }

    /// The row's name, which is also in the applications' names.
    let name: String
    /// What happens to APNs and to FCM; `nil`: there is no such application.
    var apns: Action?
    var fcm: Action?
    /// Whether some requests are still served. Their number is then not limited.
    var isPartial = false
    /// Whether only silence shows the outage, which the PING timeout ends. There is no answer and no refused
    /// connection.
    var isSilent = false
    /// Whether APNs's answer concerns the single message, so that it counts as an attempt (`TooManyRequests` is about
    /// one token).
    var apnsCountsAttempts = false
    /// The number of single messages sent during the outage, in addition to the bulk delivery.
    var singles = 0

    /// Whether no connection can be established, so that the gateway sees only dials.
    var refusesConnections: Bool { ["refused", "protocol", "tls"].contains(name) }

    /// The gateways of the row.
    var platforms: [Platform] { (apns == nil ? [] : [.ios]) + (fcm == nil ? [] : [.android]) }

    /// What happens to the gateway of a platform.
    func action(_ platform: Platform) -> Action? { platform == .ios ? apns : fcm }

    private static func reason(_ reason: String, retryAfter: String? = nil, share: Double = 1) -> Action {
        answer([("reason", .text(reason))], retryAfter, share)
    }

    /// A proxy's answer: an HTML page.
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
        // The gateway sends bytes of another protocol. The sockets stay open, so only the client notices that they are
        // unusable.
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
