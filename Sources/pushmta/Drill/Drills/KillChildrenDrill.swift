import PushCore

/// Children die, one after the other, at moments that nobody chose.
struct KillChildrenDrill: Drill {
    /// A little more faults than have to land.
    private static let faults = 22

    /// What the child that dies may put on the wire after the look at the gateways, and has not read yet: a connection's streams.
    private static let slack = Int64(DrillGateway().streams)

    /// What becomes of the messages that were on the wire.
    let policy: AmbiguityPolicy

    var name: String { policy == .resend ? "kill-children" : "kill-children-report" }
    var summary: String { "SIGKILL of random children, policy \(policy.rawValue)" }
    var promise: String {
        policy == .resend ? "lost 0; duplicates at most ambiguous, each counted as resent" : "lost 0; duplicates 0"
    }
    var isShort: Bool { true }
    var messages: Int64 { 200_000 }

    func run(_ site: DrillSite) async throws {
        let host = try await site.openHost(policy: policy)
        try await site.untilSteady()
        for number in 1...Self.faults {
            let child = try await site.untilBusyChild(of: host)
            try await site.pause(milliseconds: 0...300)
            let fault = try await site.fault("SIGKILL of child process \(child)") {
                host.signal(child, DrillSignal.kill)
            }
            // Later ones follow so closely that the rate before them is none to compare with.
            if number == 1 { try await site.expectRecovery(of: host, after: fault) }
            await site.expectNoZombies()
        }
        try await site.untilOver()
        // The dispatch window of a child is many times what it can have on the wire, and may not pass for it.
        try await site.expectAmbiguous(atMost: site.ambiguityBound(slack: Self.slack))
    }
}
