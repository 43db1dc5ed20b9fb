import Administration
import PushCore
import Store

/// The gateways stop answering for a while, alternately shorter and longer than a request's deadline.
struct GatewayStallDrill: Drill {
    let name = "gateway-stall"
    let summary = "no answers for a while (sometimes not even to PINGs), then normal service again"
    let promise = "lost 0; requests past their deadline are sent again or reported, depending on the delivery's policy"
    var needs: [DrillNeed] { [.simulator] }

    private static let rounds = 20
    /// The maximum number of rounds until both policies have had ambiguous messages. Which delivery is on the wire is
    /// random.
    private static let maxRounds = 80
    private static let deadlineSeconds = 2

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android]) {
            $0.mta.child.requestTimeoutSec = Self.deadlineSeconds
        }
        let reported = try await site.deliver(to: audience, policy: .report)
        try await site.keepSending(to: audience, policy: .resend, hasCampaigns: false) {
            $0.keepTrying()
        }
        for round in 0..<Self.maxRounds {
            if round >= Self.rounds, try await site.hasAmbiguityOfBothPolicies(reported) { break }
            let fault = round % 4 == 3 ? "freeze" : "stall"
            try await site.fault(fault) { try await site.setPlans(GatewayPlan([(fault, .flag(true))])) }
            // Every second stall is longer than the requests' deadline.
            let isLong = round % 2 == 1
            try await site.pause(milliseconds: isLong ? 2_500...3_500 : 200...1_200)
            try await site.setPlans(.calm)
        }
        try await site.untilOver()
        try await site.expectCountersOfChildren()
        try await site.expectAmbiguityByPolicy(reported)
    }
}
