import Administration
import PushCore
import Store

/// Children are killed one after another, at random moments.
struct KillChildrenDrill: Drill {
    /// Slightly more faults than must land.
    private static let faults = 22

    /// The connections that may become ready between the reading of the counters and the fault. That takes a
    /// millisecond or two, and a TLS handshake takes some, so they are few.
    private static let opening: Int64 = 2

    /// What happens to the messages that were on the wire.
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
            // Later faults follow so closely that there is no steady rate before them.
            if number == 1 { try await site.expectRecovery(of: host, after: fault) }
            await site.expectNoZombies()
        }
        try await site.untilOver()
        // The bound is what a child can have on the wire, which is less than its dispatch window.
        let streams = Int64(DrillGateway().streams)
        try await site.expectAmbiguous(atMost: site.ambiguityBound(streams: streams, opening: Self.opening))
    }
}
