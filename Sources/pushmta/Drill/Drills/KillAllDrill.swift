/// Supervisor and children die at once, as when a machine's memory is full. The supervisor that is started again finds the
/// journals.
struct KillAllDrill: Drill {
    /// The faults after which the rate has to come back before the next one; it takes seconds each time.
    private static let measuredFaults = 3
    private static let faults = 21

    let name = "kill-all"
    let summary = "SIGKILL of supervisor and children at once, and a new start"
    let promise = "lost 0, no zombie, rate back within lease + 10 s"
    let messages: Int64 = 100_000

    func run(_ site: DrillSite) async throws {
        let host = try await site.openHost()
        var onWire: Set<JournalIntents.Message> = []
        for number in 1...Self.faults {
            _ = try await site.untilBusyChild(of: host)
            if number <= Self.measuredFaults { try await site.untilSteady() }
            try await site.pause(milliseconds: 0...500)
            let fault = try await site.fault("SIGKILL of supervisor and children") { try await host.killAll() }
            // Before somebody replays them.
            onWire.formUnion(try JournalIntents.unanswered(of: host))
            try await host.start()
            if number <= Self.measuredFaults { try await site.expectRecovery(of: host, after: fault) }
            await site.expectNoZombies()
        }
        try await site.untilOver()
        try await site.expectAmbiguousOnly(onWire)
    }
}
