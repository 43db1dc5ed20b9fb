import Foundation
import PushCore
import Store

/// The quota of the whole FCM project is used up, for some seconds each time.
struct Gateway429Drill: Drill {
    let name = "gateway-429"
    let summary = "429 for the whole FCM project with Retry-After, several times"
    let promise = "sending pauses as long as asked; no attempt is counted, no retry part is made, nothing is lost"
    var needs: [DrillNeed] { [.simulator] }

    private static let rounds = 20
    private static let retryAfterSeconds = 2
    private static let reason = "RATE_LIMIT_EXCEEDED"

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.android])
        try await site.keepSending(to: audience, policy: .report)
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
            // It goes on by itself.
            try await site.untilStreams(DrillFault.leastStreams)
        }
        try await site.untilOver()
        let counts = try await site.gatewayCounts()
        site.expect(counts.rejected(Self.reason) >= Self.rounds, "too few 429: \(counts.rejected(Self.reason))")
        try await site.expectAllSent(site.deliveries, attempts: 1...1)
        for delivery in site.deliveries {
            let progress = try await site.progress(delivery)
            let parts = (progress.target + 999) / 1_000
            site.expect(progress.partsDone == parts, "\(progress.partsDone) parts, not \(parts): retry parts were made")
        }
        try expectPauses(site, starts)
    }

    /// From a second after the first 429 of an episode on, when every child has heard of it, until the time that it named,
    /// nothing comes. (Later, children try again each at its own time.)
    private func expectPauses(_ site: DrillSite, _ starts: [Double]) throws {
        let arrivals = try site.arrivals()
        var early = 0
        for start in starts {
            guard let first = arrivals.first(where: { $0.status == 429 && $0.time >= start })?.time else { continue }
            let quiet = (first + 1)..<(first + Double(Self.retryAfterSeconds))
            early += arrivals.count { quiet.contains($0.time) }
        }
        site.expect(early == 0, "\(early) requests came while the project was to be left alone")
    }
}
