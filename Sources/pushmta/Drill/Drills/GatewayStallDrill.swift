import PushCore
import Store

/// The gateways answer nothing for a while, now shorter than a request may wait and now longer.
struct GatewayStallDrill: Drill {
    let name = "gateway-stall"
    let summary = "no answers for a while (and not even PINGs are answered, at times), then everything goes on"
    let promise = "lost 0; requests past their deadline are sent again or reported, as the delivery's policy says"
    var needs: [DrillNeed] { [.simulator] }

    private static let rounds = 20
    /// Rounds at most, until messages of both policies were ambiguous: which delivery is on the wire the drill does not choose.
    private static let mostRounds = 80
    private static let deadlineSeconds = 2

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android]) {
            $0.mta.child.requestTimeoutSec = Self.deadlineSeconds
        }
        let reported = try await site.deliver(to: audience, policy: .report)
        try await site.keepSending(to: audience, policy: .resend) {
            $0.keepTrying()
        }
        for round in 0..<Self.mostRounds {
            if round >= Self.rounds, try await site.hasAmbiguityOfBothPolicies(reported) { break }
            let fault = round % 4 == 3 ? "freeze" : "stall"
            try await site.fault(fault) { try await site.setPlans(GatewayPlan([(fault, .flag(true))])) }
            // Every other one outlasts the deadline of what is on the wire.
            let isLong = round % 2 == 1
            try await site.pause(milliseconds: isLong ? 2_500...3_500 : 200...1_200)
            try await site.setPlans(.calm)
        }
        try await site.untilOver()
        try await site.expectCountersOfChildren()
        try await site.expectAmbiguityByPolicy(reported)
    }
}
