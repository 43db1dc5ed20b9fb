import PushCore
import Store

extension DrillSite {
    /// How much longer than a lease the old rate may take to come back after a process died.
    static let recoveryAllowance = 10

    /// Starts cluster, simulator and one host, registers the audience and starts to send.
    func openHost(
        policy: AmbiguityPolicy = .resend,
        _ adjust: @escaping @Sendable (inout Settings) -> Void = { _ in }
    ) async throws -> DrillHost {
        try await startCluster()
        try await startSimulator()
        let host = try addHost("host", DrillHostSetup(adjust: adjust))
        try await host.start()
        try await keepSending(to: try await audience(), policy: policy) { $0.keepTrying() }
        return host
    }

    /// Expects that some owner has stored outcomes of parts that were not its own any more. Without any, late answers were
    /// thrown away, and the messages' ends would only look right because they were sent again.
    func expectLateOutcomes() async throws {
        var late: Int64 = 0
        for delivery in deliveries { late += try await progress(delivery).lateOutcomes }
        note("\(late) outcomes came late")
        expect(late > 0, "no outcome came from an owner that had lost its part")
    }

    /// Measures how long the rate takes to come back after a fault of a host; more than its lease and ten seconds is a finding.
    func expectRecovery(of host: DrillHost, after fault: DrillFault) async throws {
        let limit = host.settings.mta.lease.durationSec + Self.recoveryAllowance
        do {
            // Longer than the limit, so that the result says how long it took.
            let seconds = try await measureRecovery(after: fault, within: .seconds(limit * 3))
            expect(
                seconds <= Double(limit),
                "after \(fault.what) the rate was back after \(seconds) s, not within \(limit) s"
            )
        } catch let setback as DrillSetback {
            finding("\(setback)")
        }
    }
}
