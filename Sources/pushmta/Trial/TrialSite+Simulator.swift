import CurlClient
import Foundation

extension TrialSite {
    /// How long the simulator may take until it listens.
    private static let startLimit = Duration.seconds(30)
    /// The time between two looks whether it does.
    private static let lookInterval = Duration.milliseconds(20)

    /// Starts the simulator and returns where it listens and what it accepts.
    func startSimulator() async throws -> SimulatorReport {
        try await simulator.start(try programs.gatewaySimulator(), ["--state", simulatorFolder, "--json"])
        let deadline = ContinuousClock.now.advanced(by: Self.startLimit)
        while ContinuousClock.now < deadline {
            if let report = simulatorReport { return report }
            guard simulator.running != nil else { break }
            try await Task.sleep(for: Self.lookInterval)
        }
        throw CommandFailure(
            .software,
            "The gateway simulator does not start. Its log \(simulator.logFile) ends with:\n\(simulator.lastWords)"
        )
    }

    /// The line that the simulator prints when it listens; it goes into its log.
    private var simulatorReport: SimulatorReport? {
        let log = FileManager.default.contents(atPath: simulator.logFile) ?? Data()
        let lines = log.split(separator: UInt8(ascii: "\n"))
        return lines.lazy.compactMap { try? JSONDecoder().decode(SimulatorReport.self, from: $0) }.first
    }

    /// What the simulator has counted so far.
    func counters(_ report: SimulatorReport) async throws -> SimulatorCount {
        let response = try await CurlClient().perform(
            CurlRequest(url: "http://\(report.control.host):\(report.control.port)/counters")
        )
        guard response.status == 200 else {
            throw CommandFailure(
                .software,
                "The gateway simulator answered \(response.status) when asked for its counters"
            )
        }
        return try JSONDecoder().decode(SimulatorCount.self, from: Data(response.body))
    }
}
