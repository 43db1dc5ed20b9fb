import PushCore
import Store

/// Both gateways refuse a share of the streams.
struct GatewayRefusedDrill: Drill {
    let name = "gateway-refused"
    let summary = "REFUSED_STREAM for 5 % of all requests"
    let promise = "they are sent again at no cost; nothing is ambiguous, nothing lost"
    var needs: [DrillNeed] { [.simulator] }

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        for gateway in GatewayPlan.both {
            try await site.setPlan(GatewayPlan([("refused_rate", .number(0.05))]), gateway)
        }
        let delivery = try await site.deliver(to: audience, policy: .report)
        try await site.untilOver()
        let counts = try await site.noteGatewayFaults("a refused stream")
        for (name, gateway) in counts.byName {
            site.expect(gateway.refused >= 20, "\(name) refused only \(gateway.refused) streams")
        }
        try await site.expectAllSent([delivery], attempts: 1...1)
    }
}
