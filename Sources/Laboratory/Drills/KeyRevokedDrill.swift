import Administration
import Foundation
import PushCore
import Store

/// Both gateways revoke the keys in the middle of a delivery, and later accept them again.
struct KeyRevokedDrill: Drill {
    let name = "key-revoked"
    let summary =
        "both gateways revoke the keys in the middle of a delivery and later accept them again; then a bad certificate"
    let promise =
        "failed 0, tokens lost 0; the circuit opens, and closes by its probes of one message each; all delivered"
    var needs: [DrillNeed] { [.simulator] }
    /// It counts the injected faults, not the requests that they hit.
    var minimumFaults: Int { 2 }

    /// The number of probes to wait for. The pauses before them are 5, 10 and 20 seconds, so the growth shows.
    private static let probes = 3

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        // Without retries, a message fails if a single attempt is counted against it.
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

    /// Revokes the keys until some probes have failed, and then accepts them again.
    ///
    /// - Returns: The time from the opening of the circuits until the keys were accepted again, in seconds since 1970.
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

    /// Has APNs refuse every connection, as with an expired certificate, until a probe has failed.
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

    /// Expects that while the circuit was open, only single messages at growing intervals reached APNs. (FCM's probes
    /// get no access token, so none of them reaches the gateway.)
    private func expectProbes(_ site: DrillSite, in range: ClosedRange<Double>) throws {
        // What was on the wire when the circuit opened arrives within a second.
        let times = try site.arrivals().filter {
            $0.reason == "InvalidProviderToken" && $0.time > range.lowerBound + 1 && $0.time <= range.upperBound
        }.map(\.time)
        site.note("probes at \(times.map { Int($0 - range.lowerBound) }) seconds after the circuit opened")
        site.expect(times.count >= Self.probes - 1, "only \(times.count) probes reached the gateway")
        let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        site.expect(gaps.allSatisfy { $0 > 4 }, "a probe was more than one message: \(gaps) seconds between them")
        site.expect(
            zip(gaps.dropFirst(), gaps).allSatisfy { $0 > $1 * 1.3 },
            "the intervals between probes do not grow: \(gaps) seconds"
        )
    }
}
