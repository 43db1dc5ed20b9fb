import CurlClient
import Foundation
import PushCore

/// The gateway simulator as a process.
struct TrialSimulator: Sendable {
    /// How long it may take until it listens.
    private static let startLimit = Duration.seconds(30)
    /// The time between two looks whether it does.
    private static let lookInterval = Duration.milliseconds(20)

    /// Where it keeps its certificate authority, credentials and ports.
    let folder: String
    /// The process.
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
            "The gateway simulator does not start. Its log \(process.logFile) ends with:\n\(process.lastWords)"
        )
    }

    /// The line that the simulator prints when it listens; it goes into its log.
    private var report: SimulatorReport? {
        let log = FileManager.default.contents(atPath: process.logFile) ?? Data()
        let lines = log.split(separator: UInt8(ascii: "\n"))
        return lines.lazy.compactMap { try? JSONBody.decode(SimulatorReport.self, from: $0) }.first
    }
}
