import Administration
import Foundation
import PushCore
import Store

/// The quota of the whole FCM project is repeatedly used up for some seconds.
struct Gateway429Drill: Drill {
    let name = "gateway-429"
    let summary = "429 for the whole FCM project with Retry-After, several times"
    let promise = "sending pauses for the time requested; no attempt is counted, no retry part is made, nothing is lost"
    var needs: [DrillNeed] { [.simulator] }

    private static let rounds = 20
    private static let retryAfterSeconds = 2
    private static let reason = "RATE_LIMIT_EXCEEDED"
    /// The children of a host that `openGateways` starts.
    private static let children = 2
    /// FCM's limit (firebase-admin-node: "respect backend limit").
    private static let streamsOfAConnection = 100

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.android])
        try await site.keepSending(to: audience, policy: .report, hasCampaigns: false)
        var starts: [Double] = []
        for round in 1...Self.rounds {
            let before = try await site.gatewayCounts().rejected(Self.reason)
            let plan = GatewayPlan.errors(Self.reason, rate: 1, retryAfter: String(Self.retryAfterSeconds))
            try await site.fault("429 for the project, number \(round)") {
                starts.append(Date().timeIntervalSince1970)
                try await site.setPlan(plan, "fcm")
            }
            try await site.until("a 429", within: .seconds(60)) {
                try await site.refill()
                return try await site.gatewayCounts().rejected(Self.reason) > before
            }
            try await site.pause(milliseconds: 200...2_000)
            try await site.setPlan(.calm, "fcm")
            // Sending resumes without intervention.
            try await site.untilStreams(DrillFault.minStreams)
        }
        try await site.untilOver()
        let counts = try await site.gatewayCounts()
        site.expect(
            counts.rejected(Self.reason) >= Self.rounds,
            "too few answers with 429: \(counts.rejected(Self.reason))"
        )
        try await site.expectAllSent(site.deliveries, attempts: 1...1)
        for delivery in site.deliveries {
            let progress = try await site.progress(delivery)
            let parts = (progress.target + 999) / 1_000
            site.expect(progress.partsDone == parts, "\(progress.partsDone) parts, not \(parts): retry parts were made")
        }
        try expectPauses(site, starts)
    }

    /// Expects that in each round, until the time given by the first 429, no child fills its streams more than once.
    /// That many requests may have been under way, or be the first ones from which the child learns of the 429. (Later,
    /// each child tries again at its own time.)
    private func expectPauses(_ site: DrillSite, _ starts: [Double]) throws {
        let arrivals = try site.arrivals()
        let maximum = Self.children * site.hosts[0].settings.mta.child.maxGCMConnectPerChild * Self.streamsOfAConnection
        for (round, start) in starts.enumerated() {
            guard let first = arrivals.first(where: { $0.status == 429 && $0.time >= start })?.time else { continue }
            let pause = first..<(first + Double(Self.retryAfterSeconds))
            let came = arrivals.count { pause.contains($0.time) }
            site.expect(
                came <= maximum,
                "round \(round + 1): \(came) requests arrived while sending to the project should pause; the maximum "
                    + "is \(maximum)"
            )
        }
    }
}
