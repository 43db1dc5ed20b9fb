import Administration
import PushCore
import Store

/// The gateways are overloaded and say when to retry.
struct Gateway503Drill: Drill {
    let name = "gateway-503"
    let summary = "503 with Retry-After for 5 % of all requests"
    let promise =
        "every message is sent on its first attempt, none before its Retry-After; nothing is ambiguous, nothing lost"
    var needs: [DrillNeed] { [.simulator] }

    private static let retryAfterSeconds = 1

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        for (gateway, reason) in [("apns", "ServiceUnavailable"), ("fcm", "UNAVAILABLE")] {
            let plan = GatewayPlan.errors(reason, rate: 0.05, retryAfter: String(Self.retryAfterSeconds))
            try await site.setPlan(plan, gateway)
        }
        let delivery = try await site.deliver(to: audience, policy: .report)
        try await site.untilOver()
        let counts = try await site.noteGatewayFaults("a 503")
        for reason in ["ServiceUnavailable", "UNAVAILABLE"] {
            site.expect(counts.rejected(reason) >= 20, "only \(counts.rejected(reason)) pushes got \(reason)")
        }
        try await site.expectAllSent([delivery], attempts: 1...1)
        var refusedAt: [String: Double] = [:]
        var early = 0
        for arrival in try site.arrivals() {
            if let time = refusedAt[arrival.id], arrival.time < time + Double(Self.retryAfterSeconds) { early += 1 }
            refusedAt[arrival.id] = arrival.status == 503 ? arrival.time : nil
        }
        site.expect(early == 0, "\(early) messages arrived again before the time given by Retry-After")
    }
}
