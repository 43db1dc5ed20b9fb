import Administration
import PushCore
import Store

/// Supervisor and children are killed at once, as when a machine runs out of memory. The restarted supervisor finds the
/// journals.
struct KillAllDrill: Drill {
    /// The number of faults after which the rate must recover before the next fault. Each takes seconds.
    private static let measuredFaults = 3
    private static let faults = 21

    let name = "kill-all"
    let summary = "SIGKILL of supervisor and children at once, then a restart"
    let promise = "lost 0, no zombie, rate recovered within lease + 10 s"
    let messages: Int64 = 100_000

    func run(_ site: DrillSite) async throws {
        let host = try await site.openHost()
        var onWire: Set<JournalIntents.Message> = []
        for number in 1...Self.faults {
            _ = try await site.untilBusyChild(of: host)
            if number <= Self.measuredFaults { try await site.untilSteady() }
            try await site.pause(milliseconds: 0...500)
            let fault = try await site.fault("SIGKILL of supervisor and children") { try await host.killAll() }
            // The journals are read before the next supervisor replays them.
            onWire.formUnion(try JournalIntents.unanswered(of: host))
            try await host.start()
            if number <= Self.measuredFaults { try await site.expectRecovery(of: host, after: fault) }
            await site.expectNoZombies()
        }
        try await site.untilOver()
        try await site.expectAmbiguousOnly(onWire)
    }
}
