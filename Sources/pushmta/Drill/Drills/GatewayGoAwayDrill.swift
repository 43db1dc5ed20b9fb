import PushCore
import Store

/// Both gateways end each connection after 500 streams, as a server does that is being replaced.
struct GatewayGoAwayDrill: Drill {
    let name = "gateway-goaway"
    let summary = "GOAWAY on every connection after 500 streams, with requests above its last-stream-id"
    let promise = "what was not processed is sent again at no cost; nothing is ambiguous, nothing lost"
    var needs: [DrillNeed] { [.simulator] }

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        let fault: [(String, Cell)] = [("after_streams", 500), ("unprocessed", 10)]
        try await site.setPlan(GatewayPlan([("goaway", .object(fault + [("reason", "Shutdown")]))]), "apns")
        // Google's servers give no JSON.
        try await site.setPlan(GatewayPlan([("goaway", .object(fault))]), "fcm")
        let delivery = try await site.deliver(to: audience, policy: .report)
        try await site.untilOver()
        let counts = try await site.noteGatewayFaults("a GOAWAY or a disowned request")
        for (name, gateway) in counts.byName {
            site.expect(gateway.goaways >= 10, "\(name) sent only \(gateway.goaways) GOAWAYs")
            site.expect(gateway.refused > 0, "\(name) disowned no request")
        }
        try await site.expectAllSent([delivery], attempts: 1...1)
    }
}
