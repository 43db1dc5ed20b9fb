import Administration
import Foundation
import LaboratoryStore
import PushCore
import Store

/// One campaign through real processes, from its approval to its recall.
struct CampaignDrill: Drill {
    let name = "campaign"
    let summary =
        "one campaign on two platforms in three languages: analysis, approval, waves with a guard, local time, sending "
        + "hours, a cap, two variants, pause, resume and recall"
    let promise =
        "everybody gets what the plan says, at most once; silence while it is paused; the report of the recall adds up"
    var needs: [DrillNeed] { [.simulator] }
    /// The drill injects no faults.
    let minimumFaults = 0
    /// The campaign goes to one in 56.
    let messages: Int64 = 112_000

    /// Slow enough for orders to meet it under way, in messages a second.
    private static let rate = 200.0
    /// Seconds until the local time comes in the last zone: enough for the analysis and the approval.
    private static let localTimeAfter: Int32 = 20
    private static let colleague = "colleague"
    private static let content = """
        {"ios": {"title": "Sale", "collapse_id": "sale"}, "android": {"title": "Sale", "tag": "sale"}, \
        "locales": {"de": {"ios": {"title": "Angebot"}, "android": {"title": "Angebot"}}, \
        "fr": {"ios": {"title": "Soldes"}, "android": {"title": "Soldes"}}}}
        """
    private static let replacement = #"{"ios": {"title": "Sorry"}, "android": {"title": "Sorry"}}"#

    func run(_ site: DrillSite) async throws {
        let applications = try await site.openGateways(to: [.ios, .android])
        let people = try await site.store().makeCampaignPeople(of: applications, zones: CampaignKind.zones)
        let category = try await site.makeCapped("campaign", of: applications)
        try await fillCap(site, applications, category, of: people)
        let service = try await site.service(of: applications)
        try await closeLastZone(site, service)
        try await site.store().setApprovalRule(service: service, above: 10)
        var one = try await approved(site, applications, category, people)
        try await passGuard(site, one.delivery)
        try await interrupt(site, &one)
        try await recall(site, &one, service)
        // It is slow on purpose.
        try site.expectSilence([one], after: Int(Self.rate) / 2)
    }

    /// Has a tenth of the people reach the cap.
    private func fillCap(
        _ site: DrillSite,
        _ applications: [String],
        _ category: String,
        of people: [Int64]
    ) async throws {
        let some = people.enumerated().filter { $0.offset % 10 == 0 }.map(\.element)
        let kind = CampaignKind.capped(category: category)
        for _ in 1...CampaignKind.cap {
            let id = try await site.createCampaign(kind, to: applications, targets: some)
            try await site.untilOver(site.startCampaign(id, kind, to: some))
        }
    }

    /// Sets sending hours that are open now in all zones but the last one, whose messages are dropped.
    private func closeLastZone(_ site: DrillSite, _ service: String) async throws {
        var hours = SendingHours()
        hours.outside = .drop
        for zone in CampaignKind.zones.dropLast() {
            let text = try await site.store().localTime(in: zone, afterSeconds: 0)
            hours.hours += SendingHours.lines(around: text)
        }
        try await site.store().setSendingHours(ofService: service, hours)
    }

    /// Analyses the campaign, has a colleague approve it, and starts it.
    private func approved(_ site: DrillSite, _ applications: [String], _ category: String, _ people: [Int64])
        async throws -> ControlledDelivery
    {
        let (store, kind) = (try site.store(), CampaignKind.whole(category: category))
        let id = try await site.createCampaign(kind, to: applications, localTimeAfter: Self.localTimeAfter) {
            $0.content = Self.content
            $0.messagesPerSecond = Self.rate
        }
        try await store.analyzeDelivery(id)
        try await site.until("the analysis of delivery \(id)", within: DrillSite.timeout) {
            try await store.deliveryProgress(id).state == .ready
        }
        for attempt in ["start", "approval by its author"] {
            do {
                if attempt == "start" {
                    try await store.startDelivery(id)
                } else {
                    try await store.approveDelivery(id, comment: "")
                }
                site.problem("delivery \(id): its \(attempt) was not refused")
            } catch let error as StoreError where error.code == .conflict {
                site.note("refused: \(error)")
            }
        }
        try await approve(site, id)
        // Half of the messages to one platform fail, which is more than the guard of the first wave allows.
        try await site.setPlan(.errors("BadCollapseId", rate: 0.5, retryAfter: ""), "apns")
        let delivery = try await site.startCampaign(id, kind, to: people)
        let codec = try MessageIDCodec(deliveryID: id, trackingKey: try await store.trackingKey(delivery: id))
        return ControlledDelivery(delivery, codec: codec)
    }

    private func approve(_ site: DrillSite, _ id: Int64) async throws {
        let cluster = site.cluster
        try await cluster.recreateUser(Self.colleague, memberOf: "pushmta_marketing")
        var settings = site.settings()
        settings.database.url = cluster.connectionString(
            TestSite.databaseName,
            host: cluster.folder,
            user: Self.colleague
        )
        try await StoreSession.run(settings, role: Self.colleague) { store in
            try await store.approveDelivery(id, comment: "looked at it")
        }
    }

    /// Waits until the guard has paused the delivery after its first wave, and resumes it.
    private func passGuard(_ site: DrillSite, _ delivery: DrillDelivery) async throws {
        let store = try site.store()
        try await site.until("the guard of the first wave", within: DrillSite.timeout, every: .milliseconds(100)) {
            try await site.progress(delivery).state == .paused
        }
        let progress = try await site.progress(delivery)
        site.note("paused: \(progress.stateReason)")
        site.expect(progress.stateReason.contains("have failed"), "it was paused because: \(progress.stateReason)")
        let waves = try await store.plan(ofDelivery: delivery.id)?.waves ?? []
        site.expect(waves.map(\.state) == [.held, .waiting], "the waves are \(waves.map(\.state))")
        try await site.setPlans(.calm)
        try await store.resumeDelivery(delivery.id)
        try await untilMore(site, delivery, than: progress.sent)
    }

    /// Pauses the delivery for some seconds.
    private func interrupt(_ site: DrillSite, _ one: inout ControlledDelivery) async throws {
        try await site.store().pauseDelivery(one.delivery.id)
        one.held(forGood: false)
        try await site.pause(milliseconds: 2_000...3_000)
        let sent = try await site.progress(one.delivery).sent
        one.resumed()
        try await site.store().resumeDelivery(one.delivery.id)
        try await untilMore(site, one.delivery, than: sent)
    }

    private func untilMore(_ site: DrillSite, _ delivery: DrillDelivery, than sent: Int64) async throws {
        let wanted = sent + Int64(Self.rate)
        try await site.until("\(wanted) sent messages", within: DrillSite.timeout, every: .milliseconds(50)) {
            try await site.progress(delivery).sent >= wanted
        }
    }

    private func recall(_ site: DrillSite, _ one: inout ControlledDelivery, _ service: String) async throws {
        let store = try site.store()
        // The message that takes the place of the others would need an approval, too.
        try await store.setApprovalRule(service: service, above: nil)
        try await store.recallDelivery(one.delivery.id, reason: "drill", mode: .replace, content: Self.replacement)
        one.held(forGood: true)
        let report = try await site.untilRecalled(one.delivery)
        site.note("the recall: \(report)")
        site.expect(report.replaced > 0, "the recall replaced nothing")
        let canceled = try await site.progress(one.delivery).canceled
        site.expect(canceled > 0, "the recall stopped nothing")
        let dropped = try await store.outcomeRows(delivery: one.delivery.id).count { $0.reason == "outside_hours" }
        site.expect(dropped > 0, "no message was dropped outside of the sending hours")
    }
}

extension SendingHours {
    /// Hours of every day around a local time like `2026-12-01T09:00:00`: from an hour before to two hours after it.
    static func lines(around localTime: String) -> [Line] {
        let digits = localTime.suffix(8).split(separator: ":").compactMap { Int($0) }
        guard digits.count == 3 else { return [] }
        let minute = digits[0] * 60 + digits[1]
        let (opens, closes) = (minute - 60, minute + 120)
        let day = 24 * 60
        // Hours that cross midnight are two lines.
        let spans = [(opens + day, day), (0, closes - day), (opens, closes)].map {
            (max($0.0, 0), min($0.1, day))
        }
        return spans.filter { $0.0 < $0.1 }.map { opens, closes in
            Line(weekdays: Array(1...7), opens: text(opens), closes: text(closes))
        }
    }

    private static func text(_ minute: Int) -> String {
        String(format: "%02d:%02d", minute / 60, minute % 60)
    }
}
