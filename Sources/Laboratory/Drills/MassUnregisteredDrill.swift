import Administration
import Foundation
import PushCore
import Store

/// Both gateways report every token as unregistered for a while.
struct MassUnregisteredDrill: Drill {
    let name = "mass-unregistered"
    let summary = "both gateways report every token as unregistered in the middle of a delivery, for some seconds"
    let promise =
        "the messages fail, no token is lost; an alarm names the command that undoes it, and everyone gets the next "
        + "delivery"
    var needs: [DrillNeed] { [.simulator] }
    /// It counts the injected faults, not the requests that they hit.
    var minimumFaults: Int { GatewayPlan.both.count }
    let messages: Int64 = 200_000
    /// The latency of a slow gateway, so that a delivery takes seconds.
    private static let latencyMilliseconds: Int64 = 300
    /// The minimum number of pushes that each gateway refuses.
    private static let leastRefused: Int64 = 1_000

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        let store = try site.store()
        // This delivery gives both applications children and connections.
        _ = try await site.deliver(to: audience)
        try await site.untilOver()
        var plan = GatewayPlan()
        plan.latencyMilliseconds = Self.latencyMilliseconds
        try await site.setPlans(plan)
        let delivery = try await site.deliver(to: audience, allows: [.failed])
        // Each gateway gets the fault when it is busy: one may be done before the other begins.
        var calm = ["apns": "Unregistered", "fcm": "UNREGISTERED"]
        try await site.until("requests at each gateway", within: DrillSite.timeout, every: .milliseconds(20)) {
            for (gateway, counts) in try await site.gatewayCounts().byName
            where counts.waiting >= DrillFault.minStreams {
                guard let reason = calm.removeValue(forKey: gateway) else { continue }
                plan.faults = [("outage", .object([("answer", .object([("reason", .text(reason))]))]))]
                try await site.setPlan(plan, gateway)
                site.noteFaults(
                    "\(gateway) reports every token as unregistered",
                    number: 1,
                    streams: Int64(counts.waiting)
                )
            }
            return calm.isEmpty
        }
        try await site.until("\(Self.leastRefused) unregistered tokens at each gateway", within: DrillSite.timeout) {
            try await site.gatewayCounts().byName.allSatisfy {
                $0.counts.outage?.requests.reduce(0, +) ?? 0 >= Self.leastRefused
            }
        }
        try await site.setPlans(.calm)
        try await site.untilOver()
        let failed = try await site.progress(delivery).failed
        try await site.until("all refused tokens unconfirmed", within: .seconds(60)) {
            let counts = try await store.tokenEventCounts(delivery: delivery.id).filter { $0.kind == .invalid }
            return counts.reduce(0) { $0 + $1.doubted } == failed && counts.allSatisfy { $0.applied == 0 }
        }
        let alarms = try await store.alarms().filter { $0.code == "tokens_doubted" }
        site.expect(
            Set(alarms.map(\.subject)) == Set(audience),
            "the alarms are about \(alarms.map(\.subject)), not \(audience)"
        )
        for application in audience {
            site.expect(
                alarms.contains { $0.remedy.contains("pushmta quarantine doubted \(application) --undo") },
                "no alarm names the command for \(application)"
            )
            try await store.resolveDoubtedTokens(application: application, confirmed: false)
        }
        try await site.expectNoTokenLost(audience, delivery)
    }
}
