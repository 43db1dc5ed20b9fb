import Administration
import LaboratoryStore
import PushCore
import Store

/// Deliveries are recalled while two hosts send them, and at the same moment children are killed.
struct RecallDrill: Drill {
    let name = "recall"
    let summary = "recall of running deliveries on two hosts, each with a SIGKILL of a child"
    let promise = "nothing new reaches the gateways a second after the recall; its report adds up; lost 0"
    var needs: [DrillNeed] { [.simulator] }
    let minimumFaults = 8

    private static let rounds = 10
    private static let content =
        #"{"ios": {"title": "Sale", "collapse_id": "sale"}, "android": {"title": "Sale", "tag": "sale"}}"#
    private static let replacement = #"{"ios": {"title": "Sorry"}, "android": {"title": "Sorry"}}"#

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator()
        try await site.setPlans(.calm)
        let hosts = try ["one", "two"].map { try site.addHost($0, DrillHostSetup(children: 2)) }
        for host in hosts { try await host.start() }
        let audience = try await site.audience([.ios, .android])
        var controlled: [ControlledDelivery] = []
        var (unsent, replaced): (Int64, Int64) = (0, 0)
        for _ in 1...Self.rounds {
            let delivery = try await site.deliver(to: audience, allows: [.canceled, .unknown]) {
                $0.content = Self.content
            }
            let key = try await site.store().deliveryForSending(delivery.id).trackingKey
            var one = ControlledDelivery(
                delivery,
                codec: try MessageIDCodec(deliveryID: delivery.id, trackingKey: key)
            )
            guard let host = site.randomElement(of: hosts) else { continue }
            let report = try await recall(site, &one, killingChildOf: host)
            controlled.append(one)
            unsent += report.unsent
            replaced += report.replaced
        }
        site.expect(unsent > 0, "no recall stopped a message")
        site.expect(replaced > 0, "no recall replaced a message")
        try site.expectSilence(controlled)
    }

    /// Recalls a delivery and kills a child, waits for the end of both deliveries, and checks the report.
    private func recall(_ site: DrillSite, _ one: inout ControlledDelivery, killingChildOf host: DrillHost) async throws
        -> RecallReport
    {
        let (store, id) = (try site.store(), one.delivery.id)
        let process = try await site.untilBusyChild(of: host)
        try await site.pause(milliseconds: 0...300)
        var found: Int64?
        try await site.fault("recall of delivery \(id) and SIGKILL of child process \(process)") {
            found = try await store.recallDelivery(id, reason: "drill", mode: .replace, content: Self.replacement)
            host.signal(process, DrillSignal.kill)
        }
        one.held(forGood: true)
        guard let child = found else { throw DrillFailure("the recall of delivery \(id) has no delivery") }
        try await site.untilOver(one.delivery)
        let outcomes = try await store.outcomeRows(delivery: id)
        let seen = Int64(outcomes.count { $0.status == .sent || $0.status == .unknown })
        // Everybody who may have seen the message gets the replacement.
        let replacement = DrillDelivery(id: child, policy: .resend, messages: seen)
        site.watch(replacement)
        try await site.untilOver(replacement)
        guard let report = try await store.recallReport(ofDelivery: id) else {
            throw DrillFailure("delivery \(id) has no report of its recall")
        }
        let told = report.replaced + report.removed + report.tooLate
        site.expect(
            report.pending == 0 && told == seen && report.unsent == Int64(outcomes.count) - seen
                && report.target == report.unsent + told,
            "the report of delivery \(id) says \(report), but \(seen) of \(outcomes.count) messages may have been seen"
        )
        let sent = try await site.progress(replacement).sent
        site.expect(report.replaced == sent, "delivery \(id): \(report.replaced) replaced, but \(sent) sent")
        return report
    }
}
