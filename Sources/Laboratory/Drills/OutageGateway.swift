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
