import Administration
import PushCore
import Store

/// The supervisor is killed and restarted at once. Its children notice by the end of their standard input, resolve what
/// is on the wire and end.
struct KillSupervisorDrill: Drill {
    /// The number of faults after which the rate must recover before the next fault. Each takes seconds.
    private static let measuredFaults = 3
    private static let faults = 21

    let name = "kill-supervisor"
    let summary = "SIGKILL of the supervisor, then a restart"
    let promise = "lost 0, no zombie, rate recovered within lease + 10 s"
    let messages: Int64 = 100_000

    func run(_ site: DrillSite) async throws {
        let host = try await site.openHost()
        for number in 1...Self.faults {
            _ = try await site.untilBusyChild(of: host)
            if number <= Self.measuredFaults { try await site.untilSteady() }
            try await site.pause(milliseconds: 0...500)
            let fault = try await site.fault("SIGKILL of the supervisor") { try await host.killSupervisor() }
            try await host.start()
            if number <= Self.measuredFaults { try await site.expectRecovery(of: host, after: fault) }
            await site.expectNoZombies()
        }
        try await site.untilOver()
    }
}
