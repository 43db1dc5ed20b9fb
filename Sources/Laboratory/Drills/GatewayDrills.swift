import Administration
import Foundation
import PushCore
import Store

/// The gateways are overloaded and say when to retry.
struct Gateway503Drill: Drill {
    let name = "gateway-503"
    let summary = "503 with Retry-After for 5 % of all requests"
    let promise =
        "every message is sent on its first attempt, none before its Retry-After; nothing is ambiguous, nothing lost"
    var needs: [DrillNeed] { [.simulator] }

    private static let retryAfterSeconds = 1

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        for (gateway, reason) in [("apns", "ServiceUnavailable"), ("fcm", "UNAVAILABLE")] {
            let plan = GatewayPlan.errors(reason, rate: 0.05, retryAfter: String(Self.retryAfterSeconds))
            try await site.setPlan(plan, gateway)
        }
        let delivery = try await site.deliver(to: audience, policy: .report)
        try await site.untilOver()
        let counts = try await site.noteGatewayFaults("a 503")
        for reason in ["ServiceUnavailable", "UNAVAILABLE"] {
            site.expect(counts.rejected(reason) >= 20, "only \(counts.rejected(reason)) pushes got \(reason)")
        }
        try await site.expectAllSent([delivery], attempts: 1...1)
        var refusedAt: [String: Double] = [:]
        var early = 0
        for arrival in try site.arrivals() {
            if let time = refusedAt[arrival.id], arrival.time < time + Double(Self.retryAfterSeconds) { early += 1 }
            refusedAt[arrival.id] = arrival.status == 503 ? arrival.time : nil
        }
        site.expect(early == 0, "\(early) messages arrived again before the time given by Retry-After")
    }
}

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

/// The gateways reset all connections with open requests, half of which they have accepted.
struct GatewayResetDrill: Drill {
    let name = "gateway-reset"
    let summary = "TCP reset of every connection while requests are open; the gateway has accepted half of them"
    let promise = "lost 0; what was on the wire is sent again or reported, depending on the delivery's policy"
    var needs: [DrillNeed] { [.simulator] }

    private static let rounds = 20
    /// The maximum number of rounds until both policies have had ambiguous messages. Which delivery is on the wire is
    /// random.
    private static let maxRounds = 160

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        for gateway in GatewayPlan.both {
            try await site.setPlan(GatewayPlan([("unanswered_accepted_share", .number(0.5))]), gateway)
        }
        let reported = try await site.deliver(to: audience, policy: .report)
        try await site.keepSending(to: audience, policy: .resend) {
            $0.keepTrying()
        }
        for round in 0..<Self.maxRounds {
            if round >= Self.rounds, try await site.hasAmbiguityOfBothPolicies(reported) { break }
            try await site.pause(milliseconds: 100...700)
            try await site.fault("reset of all connections") { try await site.control?.post("/disconnect", "{}") }
        }
        try await site.untilOver()
        try await site.expectCountersOfChildren()
        let counts = try await site.gatewayCounts()
        for (name, gateway) in counts.byName {
            site.expect(gateway.resets > 0, "\(name) reset no connection")
            site.expect(gateway.cutOff > 0, "no request of \(name) lost its answer")
        }
        try await site.expectAmbiguityByPolicy(reported)
    }
}

/// The gateways stop answering for a while, alternately shorter and longer than a request's deadline.
struct GatewayStallDrill: Drill {
    let name = "gateway-stall"
    let summary = "no answers for a while (sometimes not even to PINGs), then normal service again"
    let promise = "lost 0; requests past their deadline are sent again or reported, depending on the delivery's policy"
    var needs: [DrillNeed] { [.simulator] }

    private static let rounds = 20
    /// The maximum number of rounds until both policies have had ambiguous messages. Which delivery is on the wire is
    /// random.
    private static let maxRounds = 80
    private static let deadlineSeconds = 2

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android]) {
            $0.mta.child.requestTimeoutSec = Self.deadlineSeconds
        }
        let reported = try await site.deliver(to: audience, policy: .report)
        try await site.keepSending(to: audience, policy: .resend) {
            $0.keepTrying()
        }
        for round in 0..<Self.maxRounds {
            if round >= Self.rounds, try await site.hasAmbiguityOfBothPolicies(reported) { break }
            let fault = round % 4 == 3 ? "freeze" : "stall"
            try await site.fault(fault) { try await site.setPlans(GatewayPlan([(fault, .flag(true))])) }
            // Every second stall is longer than the requests' deadline.
            let isLong = round % 2 == 1
            try await site.pause(milliseconds: isLong ? 2_500...3_500 : 200...1_200)
            try await site.setPlans(.calm)
        }
        try await site.untilOver()
        try await site.expectCountersOfChildren()
        try await site.expectAmbiguityByPolicy(reported)
    }
}

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
        try await site.keepSending(to: audience, policy: .report)
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
