extension TrialSite {
    /// Starts the simulator and returns where it listens and what it accepts.
    func startSimulator() async throws -> SimulatorReport {
        try await gateways.start(programs)
    }

    /// What the simulator has counted so far.
    func counters(_ report: SimulatorReport) async throws -> SimulatorCount {
        try await SimulatorControl(report).counters()
    }
}
