import Administration
import PushCore
import Store

/// The gateways reset all connections with open requests, half of which they have accepted.
struct GatewayResetDrill: Drill {
    let name = "gateway-reset"
    let summary = "TCP reset of every connection while requests are open; the gateway has accepted half of them"
    let promise = "lost 0; what was on the wire is sent again or reported, depending on the delivery's policy"
    var needs: [DrillNeed] { [.simulator] }

    private static let rounds = 20
    /// The maximum number of rounds until both policies have had ambiguous messages. Which delivery is on the wire is
    /// random.
    private static let maxRounds = 160

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        for gateway in GatewayPlan.both {
            try await site.setPlan(GatewayPlan([("unanswered_accepted_share", .number(0.5))]), gateway)
        }
        let reported = try await site.deliver(to: audience, policy: .report)
        try await site.keepSending(to: audience, policy: .resend, hasCampaigns: false) {
            $0.keepTrying()
        }
        for round in 0..<Self.maxRounds {
            if round >= Self.rounds, try await site.hasAmbiguityOfBothPolicies(reported) { break }
            try await site.pause(milliseconds: 100...700)
            try await site.fault("reset of all connections") { try await site.control?.post("/disconnect", "{}") }
        }
        try await site.untilOver()
        try await site.expectCountersOfChildren()
        let counts = try await site.gatewayCounts()
        for (name, gateway) in counts.byName {
            site.expect(gateway.resets > 0, "\(name) reset no connection")
            site.expect(gateway.cutOff > 0, "no request of \(name) lost its answer")
        }
        try await site.expectAmbiguityByPolicy(reported)
    }
}
