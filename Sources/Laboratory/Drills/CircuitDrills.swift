import Administration
import Foundation
import PushCore
import Store

/// The keys of both gateways are revoked in the middle of a delivery, and put right later.
struct KeyRevokedDrill: Drill {
    let name = "key-revoked"
    let summary =
        "both gateways' keys are revoked in the middle of a delivery and put right later; then a bad certificate"
    let promise = "failed 0, tokens lost 0; the circuit opens and closes by its probes, one message each; all delivered"
    var needs: [DrillNeed] { [.simulator] }
    /// What is done, not how many requests meet it.
    var minimumFaults: Int { 2 }

    /// Probes to wait for: their pauses are 5, 10 and 20 seconds, so growth shows.
    private static let probes = 3

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        // Without retries a message fails for the least that is counted against it.
        let delivery = try await site.deliver(to: audience, policy: .report) { $0.maxRetries = 0 }
        try await site.untilSent(delivery, share: 0.25)
        let revoked = try await revoke(site, audience)
        try await site.untilOver()
        let ios = Array(audience.prefix(1))
        let further = try await site.deliver(to: ios, policy: .report, messages: site.messages - site.messages / 2)
        try await failCertificate(site, ios)
        try await site.untilOver()
        try await site.expectAllSent([delivery], attempts: 1...1)
        let progress = try await site.progress(further)
        site.expect(
            progress.sent == progress.target,
            "delivery \(further.id): \(progress.sent) of \(progress.target) sent, \(progress.failed) failed"
        )
        try expectProbes(site, in: revoked)
        try await site.expectNoTokenLost(audience, delivery)
    }

    /// Revokes the keys until some probes have failed.
    ///
    /// - Returns: From when on circuits were open until the keys were right again, in seconds since 1970.
    private func revoke(_ site: DrillSite, _ audience: [String]) async throws -> ClosedRange<Double> {
        try await site.fault("the keys are revoked") { try await site.setRevoked(true) }
        try await site.untilCircuits(of: audience, .open, within: .seconds(20))
        let open = Date().timeIntervalSince1970
        try await site.untilProbes(of: audience, Self.probes)
        let closed = Date().timeIntervalSince1970
        try await site.setRevoked(false)
        try await site.untilCircuits(of: audience, .closed, within: .seconds(60))
        return open...closed
    }

    /// Refuses every connection to APNs, as with an expired certificate, until a probe has failed.
    private func failCertificate(_ site: DrillSite, _ ios: [String]) async throws {
        let goAway: [(String, Cell)] = [("after_streams", 0), ("reason", "BadCertificate")]
        try await site.fault("GOAWAY for a bad certificate") {
            try await site.setPlan(GatewayPlan([("goaway", .object(goAway))]), "apns")
        }
        try await site.untilCircuits(of: ios, .open, within: .seconds(20))
        try await site.untilProbes(of: ios, 1)
        try await site.setPlan(.calm, "apns")
        try await site.untilCircuits(of: ios, .closed, within: .seconds(60))
    }

    /// While the circuit was open nothing came to APNs but single messages at growing intervals. (FCM's probes get no access
    /// token, so none of them reaches the gateway.)
    private func expectProbes(_ site: DrillSite, in range: ClosedRange<Double>) throws {
        // What was on the wire when the circuit opened comes within a second.
        let times = try site.arrivals().filter {
            $0.reason == "InvalidProviderToken" && $0.time > range.lowerBound + 1 && $0.time <= range.upperBound
        }.map(\.time)
        site.note("probes at \(times.map { Int($0 - range.lowerBound) }) seconds after the circuit opened")
        site.expect(times.count >= Self.probes - 1, "only \(times.count) probes came to the gateway")
        let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        site.expect(gaps.allSatisfy { $0 > 4 }, "a probe was more than one message: \(gaps) seconds between them")
        site.expect(
            zip(gaps.dropFirst(), gaps).allSatisfy { $0 > $1 * 1.3 },
            "the intervals between probes do not grow: \(gaps) seconds"
        )
    }
}

/// All devices of an application are registered for the other environment, until somebody puts it right.
struct EnvironmentMixUpDrill: Drill {
    let name = "wrong-environment"
    let summary = "every push token belongs to the other environment (BadDeviceToken), put right later"
    let promise =
        "failed 0, tokens lost 0; the circuit is opened by the guard against mass failures and closes; all delivered"
    var needs: [DrillNeed] { [.simulator] }
    /// What is done, not how many requests meet it.
    var minimumFaults: Int { 1 }

    private static let probes = 2
    /// Messages that one probe may take to be sure.
    private static let mostPerProbe = 10

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios])
        // APNs allows one request at a time until one was accepted, which would be never. More of them meet the guard harder.
        try await site.setPlan(GatewayPlan([("max_concurrent_streams", 300)]), "apns")
        try await site.control?.post("/environment", "{\"devices\":\"other\"}")
        let delivery = try await site.deliver(to: audience, policy: .report)
        try await site.untilCircuits(of: audience, .open, within: .seconds(60))
        let open = Date().timeIntervalSince1970
        try await site.untilProbes(of: audience, Self.probes)
        let middle = try await site.progress(delivery)
        site.expect(middle.failed == 0, "\(middle.failed) messages failed while the circuit was open")
        let counts = try await site.gatewayCounts()
        // It was mixed up before anything was sent, so the fault came when the first requests met it under load.
        site.noteFaults(
            "every push token belongs to the other environment",
            number: counts.faultsUnderLoad > 0 ? 1 : 0,
            streams: counts.leastWaitingAtFault
        )
        let rejected = counts.rejected("BadDeviceToken")
        site.expect(rejected > 100, "only \(rejected) pushes got BadDeviceToken: the guard had no cause")
        // Two children with 300 requests each, and the guard needs a hundred answers of each.
        site.expect(rejected < 5_000, "\(rejected) pushes got BadDeviceToken before the circuit opened")
        try expectFewProbes(site, after: open)
        try await site.control?.post("/environment", "{\"devices\":\"own\"}")
        try await site.untilCircuits(of: audience, .closed, within: .seconds(90))
        try await site.untilOver()
        try await site.expectAllSent([delivery], attempts: 1...1)
        try await site.expectNoTokenLost(audience, delivery)
    }

    /// A probe may meet a token that is really wrong, so a few are tried, one after the other; never more at once.
    private func expectFewProbes(_ site: DrillSite, after open: Double) throws {
        // What was on the wire when the circuit opened comes within a second.
        let times = try site.arrivals().map(\.time).filter { $0 > open + 1 }
        site.expect(times.count >= Self.probes, "only \(times.count) pushes came while the circuit was open: no probes")
        site.expect(
            times.count <= Self.probes * Self.mostPerProbe,
            "\(times.count) pushes came while the circuit was open"
        )
        let least = zip(times.dropFirst(), times).map { $0 - $1 }.min() ?? 1
        site.expect(least > 0.04, "two probes were on the wire at once, \(least) s apart")
    }
}
