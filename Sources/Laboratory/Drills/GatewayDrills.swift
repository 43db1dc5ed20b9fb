import Administration
import PushCore
import Store

/// Both gateways end each connection after 500 streams, as a server does that is about to be replaced.
struct GatewayGoAwayDrill: Drill {
    let name = "gateway-goaway"
    let summary = "GOAWAY on every connection after 500 streams, with requests above its last-stream-id"
    let promise = "unprocessed requests are sent again without counting an attempt; nothing is ambiguous, nothing lost"
    var needs: [DrillNeed] { [.simulator] }

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        let fault: [(String, Cell)] = [("after_streams", 500), ("unprocessed", 10)]
        try await site.setPlan(GatewayPlan([("goaway", .object(fault + [("reason", "Shutdown")]))]), "apns")
        // Google's servers send no JSON with a GOAWAY.
        try await site.setPlan(GatewayPlan([("goaway", .object(fault))]), "fcm")
        let delivery = try await site.deliver(to: audience, policy: .report)
        try await site.untilOver()
        let counts = try await site.noteGatewayFaults("a GOAWAY or an unprocessed request")
        for (name, gateway) in counts.byName {
            site.expect(gateway.goaways >= 10, "\(name) sent only \(gateway.goaways) GOAWAYs")
            site.expect(gateway.refused > 0, "\(name) left no request unprocessed")
        }
        try await site.expectAllSent([delivery], attempts: 1...1)
    }
}

/// Both gateways refuse a share of the streams.
struct GatewayRefusedDrill: Drill {
    let name = "gateway-refused"
    let summary = "REFUSED_STREAM for 5 % of all requests"
    let promise = "they are sent again without counting an attempt; nothing is ambiguous, nothing lost"
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
