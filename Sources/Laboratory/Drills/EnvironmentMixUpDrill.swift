import Administration
import Foundation
import PushCore
import Store

/// All devices of an application are registered for the other APNs environment, until that is corrected.
struct EnvironmentMixUpDrill: Drill {
    let name = "wrong-environment"
    let summary = "every push token belongs to the other environment (BadDeviceToken), corrected later"
    let promise =
        "failed 0, tokens lost 0; the mass failure guard opens the circuit, which closes again; all delivered"
    var needs: [DrillNeed] { [.simulator] }
    /// It counts the injected faults, not the requests that they hit.
    var minimumFaults: Int { 1 }

    private static let probes = 2
    /// The maximum number of messages that one probe may send to be sure.
    private static let maxPerProbe = 10

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios])
        // APNs would allow one request at a time until it has accepted one, which never happens here. More requests
        // test the guard harder.
        try await site.setPlan(GatewayPlan([("max_concurrent_streams", 300)]), "apns")
        try await site.control?.post("/environment", "{\"devices\":\"other\"}")
        let delivery = try await site.deliver(to: audience, policy: .report)
        try await site.untilCircuits(of: audience, .open, within: .seconds(60))
        let open = Date().timeIntervalSince1970
        try await site.untilProbes(of: audience, Self.probes)
        let middle = try await site.progress(delivery)
        site.expect(middle.failed == 0, "\(middle.failed) messages failed while the circuit was open")
        let counts = try await site.gatewayCounts()
        // The environments were mixed up before anything was sent, so the fault landed when the first requests met it.
        site.noteFaults(
            "every push token belongs to the other environment",
            number: counts.faultsUnderLoad > 0 ? 1 : 0,
            streams: counts.leastWaitingAtFault
        )
        let rejected = counts.rejected("BadDeviceToken")
        site.expect(rejected > 100, "only \(rejected) pushes got BadDeviceToken: too few for the guard to act")
        // Two children have up to 300 requests each under way, and the guard needs a hundred answers of each.
        site.expect(rejected < 5_000, "\(rejected) pushes got BadDeviceToken before the circuit opened")
        try expectFewProbes(site, after: open)
        try await site.control?.post("/environment", "{\"devices\":\"own\"}")
        try await site.untilCircuits(of: audience, .closed, within: .seconds(90))
        try await site.untilOver()
        try await site.expectAllSent([delivery], attempts: 1...1)
        try await site.expectNoTokenLost(audience, delivery)
    }

    /// Expects few probes. A probe may hit a token that is really invalid, so it may try a few messages, but only one
    /// after another.
    private func expectFewProbes(_ site: DrillSite, after open: Double) throws {
        // What was on the wire when the circuit opened arrives within a second.
        let times = try site.arrivals().map(\.time).filter { $0 > open + 1 }
        site.expect(
            times.count >= Self.probes,
            "only \(times.count) pushes came while the circuit was open: too few probes"
        )
        site.expect(
            times.count <= Self.probes * Self.maxPerProbe,
            "\(times.count) pushes came while the circuit was open"
        )
        let least = zip(times.dropFirst(), times).map { $0 - $1 }.min() ?? 1
        site.expect(least > 0.04, "two probes were on the wire at once: they came \(least) s apart")
    }
}
