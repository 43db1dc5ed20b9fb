import Administration
import Foundation
import PushCore
import Store

/// Some tokens get answers that no other token gets. It shows whether they stop only themselves or others, too.
struct PoisonedTokensDrill: Drill {
    let name = "poisoned-tokens"
    let summary =
        "47 tokens, the first of the delivery, always get 401 THIRD_PARTY_AUTH_ERROR, and one in 100 of the others "
        + "500 INTERNAL"
    let promise =
        "all others are sent, the 47 wait under one alarm, no gateway is in trouble; once corrected, they are sent too"
    var needs: [DrillNeed] { [.simulator] }
    /// It counts the injected faults, not the requests that they hit.
    var minimumFaults: Int { 1 }
    let messages: Int64 = 20_000

    private static let wrongCredential = 47
    private static let failing: Int64 = 100

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.android])
        let store = try site.store()
        // The list has the newest first. Parts are made by id, so the oldest are sent first.
        let devices = try await store.subscriptions(application: audience[0], limit: Int(site.messages))
        let poisoned = devices.suffix(Self.wrongCredential).map(\.pushToken)
        let failing = devices.dropLast(Self.wrongCredential).enumerated().filter { $0.offset % Int(Self.failing) == 0 }
            .map(\.element.pushToken)
        try await script(site, poisoned, "THIRD_PARTY_AUTH_ERROR")
        try await script(site, failing, "INTERNAL")
        let delivery = try await site.deliver(to: audience)
        var streams: Int64 = 0
        try await site.until("requests on the wire", within: DrillSite.timeout) {
            streams = try await site.streams()
            return streams >= DrillFault.minStreams
        }
        let good = site.messages - Int64(poisoned.count + failing.count)
        try await site.until("\(good) sent messages", within: DrillSite.timeout) {
            try await site.progress(delivery).sent >= good
        }
        site.noteFaults("tokens with their own answers", number: 1, streams: streams)
        try await site.until("the alarm that names the cause", within: .seconds(20)) {
            try await store.alarms().contains {
                $0.code == "credential_refused" && $0.text.contains("\(poisoned.count) of its messages")
                    && $0.text.contains("THIRD_PARTY_AUTH_ERROR")
            }
        }
        let alarms = try await store.alarms().map(\.code)
        site.expect(!alarms.contains("gateway_trouble"), "the gateway counts as in trouble: \(alarms)")
        site.expect(try await site.progress(delivery).failed == 0, "messages have failed")
        try await script(site, poisoned + failing, nil)
        try await store.resumeApplication(named: audience[0])
        try await site.untilOver()
        try await site.expectAllSent([delivery], attempts: 1...1)
        let left = try await store.alarms().map(\.code)
        site.expect(!left.contains("credential_refused"), "the alarm is still active: \(left)")
    }

    /// Has the gateway answer these devices with a reason; `nil`: as usual.
    private func script(_ site: DrillSite, _ tokens: [String], _ reason: String?) async throws {
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let answer = reason.map { ",\"answer\":{\"reason\":\"\($0)\"}" } ?? ""
        try await site.control?.post("/devices", "{\"tokens\":[\(list)]\(answer)}")
    }
}

/// Both gateways give answers that no gateway gives, in one form after another.
struct WrongAnswersDrill: Drill {
    let name = "wrong-answers"
    let summary =
        "both gateways answer 200 and 403 with a page, reset every stream, close connections midway, one after another"
    let promise = "each counts as gateway trouble, with an alarm; meanwhile hardly anything is sent; all delivered"
    var needs: [DrillNeed] { [.simulator] }
    var minimumFaults: Int { Self.forms.count }

    private static let page: [(String, Cell)] = [
        ("headers", .object([("content-type", .text("text/html"))])),
        ("body", .text("<html><title>Sign in</title></html>")),
    ]
    private static let forms: [(name: String, answer: Cell)] = [
        ("200 with a page", .object([("status", .integer(200))] + page)),
        ("403 with a page", .object([("status", .integer(403))] + page)),
        ("every stream reset", .object([("reset", .integer(2))])),
        ("connections closed in the middle", .object([("drop", .flag(true))])),
    ]
    /// The maximum number of requests while in trouble: the probes of two applications, each 1 to 5 s apart, and what
    /// both children were about to send.
    private static let maxMeanwhile: Int64 = 20

    func run(_ site: DrillSite) async throws {
        let audience = try await site.openGateways(to: [.ios, .android])
        let store = try site.store()
        for form in Self.forms {
            // Each form has its own delivery, so that neither application is done before the gateways fail.
            _ = try await site.deliver(to: audience) { $0.keepTrying() }
            try await site.untilBothGatewaysAreBusy()
            try await site.fault(form.name) {
                try await site.setPlans(GatewayPlan([("outage", .object([("answer", form.answer)]))]))
            }
            try await site.until("both gateways in trouble", within: .seconds(60)) {
                let alarms = try await store.alarms().filter { $0.code == "gateway_trouble" }
                return Set(alarms.map(\.subject)) == Set(audience)
            }
            // By then, what was on the wire at the start has arrived.
            try await site.pause(milliseconds: 2_000...2_000)
            let before = try await counts(site).values.reduce(0, +)
            try await site.pause(milliseconds: 5_000...5_000)
            let came = try await counts(site)
            let meanwhile = came.values.reduce(0, +) - before
            site.expect(
                meanwhile <= Self.maxMeanwhile,
                "\(form.name): \(meanwhile) requests arrived in five seconds of trouble, of \(came) in total"
            )
            let circuits = try await store.applicationHealth().filter { $0.state != .closed }
            site.expect(circuits.isEmpty, "\(form.name): a circuit is open: \(circuits.map(\.reason))")
            try await site.setPlans(.calm)
            try await site.until("no gateway in trouble", within: .seconds(60)) {
                try await !store.alarms().contains { $0.code == "gateway_trouble" }
            }
        }
        try await site.untilOver()
    }

    /// The number of requests that the fault hit, by gateway.
    private func counts(_ site: DrillSite) async throws -> [String: Int64] {
        try await site.gatewayCounts().byName.reduce(into: [:]) { sums, gateway in
            sums[gateway.name] = gateway.counts.outage?.requests.reduce(0, +) ?? 0
        }
    }
}

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
