import Administration
import Foundation
import PushCore

/// A gateway simulator process.
struct TestSimulator: Sendable {
    /// How long the simulator may take to listen.
    private static let startLimit = Duration.seconds(30)
    /// The interval between checks whether it listens.
    private static let lookInterval = Duration.milliseconds(20)

    /// The folder of its certificate authority, credentials and ports.
    let folder: String
    let process: BackgroundProcess

    /// A simulator with state, log and record in `site`'s folder; nothing is started.
    init(site: String) {
        folder = site + "/simulator"
        process = BackgroundProcess(
            name: "gateway simulator",
            recordFile: site + "/run/simulator.pid",
            logFile: site + "/log/simulator.log"
        )
    }

    /// Starts the simulator and returns its addresses and credentials.
    ///
    /// - Parameter wrapper: A command that executes the simulator, such as `ip netns exec NAME`.
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
            "The gateway simulator did not start. Its log \(process.logFile) ends with:\n\(process.stderrTail)"
        )
    }

    /// Gives the simulator CPU priority if possible. On a busy CPU it would otherwise answer later than configured,
    /// whereas a real gateway has its own machines.
    ///
    /// - Returns: Whether it has priority.
    func comeFirst() -> Bool { process.comeFirst() }

    /// A note about that for a measurement's report.
    static func words(comesFirst: Bool) -> String {
        comesFirst
            ? "has CPU priority (niceness -10)"
            : "has no CPU priority (that needs the right to set niceness), so on a busy CPU it answers late"
    }

    /// The line that the simulator prints into its log when it listens.
    private var report: SimulatorReport? {
        let log = FileManager.default.contents(atPath: process.logFile) ?? Data()
        let lines = log.split(separator: UInt8(ascii: "\n"))
        return lines.lazy.compactMap { try? JSONBody.decode(SimulatorReport.self, from: $0) }.first
    }
}
