import Administration
import PushCore
import Store

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
