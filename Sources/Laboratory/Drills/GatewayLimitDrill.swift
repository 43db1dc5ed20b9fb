import Administration
import PushCore

/// The gateways change the stream limit while hundreds of streams are open at each.
struct GatewayLimitDrill: Drill {
    let name = "gateway-limit"
    let summary = "stream limit 1000 (FCM: 100) → 1 → 1000 while requests are open at both gateways, repeatedly"
    let promise = "the limit is obeyed at once, nothing is ambiguous, nothing lost"
    var needs: [DrillNeed] { [.simulator] }

    private static let rounds = 20

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        try await site.setLimit(nil)
        try await site.keepSending(to: audience, policy: .report, hasCampaigns: false)
        for _ in 0..<Self.rounds {
            // A connection opens no stream before the gateway's first SETTINGS, so the limit also holds for new
            // connections. But an idle gateway would not show that the limit is obeyed.
            try await site.untilBothGatewaysAreBusy()
            try await site.fault("stream limit 1") { try await site.setLimit(1) }
            // Open requests may stay open until they are answered. After that, each connection has at most one request.
            try await site.until("at most one request on each connection", within: .seconds(20)) {
                let counts = try await site.gatewayCounts()
                return counts.byName.allSatisfy { $0.counts.waiting <= $0.counts.connections }
            }
            try await site.pause(milliseconds: 50...400)
            let counts = try await site.gatewayCounts()
            for (name, gateway) in counts.byName {
                site.expect(
                    gateway.waiting <= gateway.connections,
                    "\(gateway.waiting) requests were open on \(gateway.connections) connections of \(name), whose "
                        + "limit is 1"
                )
            }
            try await site.setLimit(1000)
        }
        try await site.setLimit(nil)
        try await site.untilOver()
        let counts = try await site.gatewayCounts()
        for (name, gateway) in counts.byName {
            site.expect(
                gateway.limitChanges >= Self.rounds,
                "\(name) announced only \(gateway.limitChanges) limit changes"
            )
        }
        try await site.expectAllSent(site.deliveries, attempts: 1...1)
    }
}

extension DrillSite {
    /// Announces a stream limit, or with `nil` each gateway's own. FCM never allows more than 100.
    fileprivate func setLimit(_ limit: Int64?) async throws {
        for (gateway, maximum) in [("apns", Int64.max), ("fcm", 100)] {
            let faults: [(String, Cell)] = limit.map { [("max_concurrent_streams", .integer(min($0, maximum)))] } ?? []
            try await setPlan(GatewayPlan(faults), gateway)
        }
    }
}
