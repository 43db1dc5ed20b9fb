import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// Thousands of small deliveries become due at once, and urgent ones start meanwhile.
struct ManyDeliveriesDrill: Drill {
    let name = "many-deliveries"
    let summary =
        "10,000 deliveries of 20 messages to two platforms, all due at the same moment, one in 50 with waves, one with a "
        + "local time and one with variants; an urgent one every few seconds"
    let promise = "all sent, in 60 s (three times that in a debug build); each urgent one complete within 2 s"
    var needs: [DrillNeed] { [.simulator] }
    /// The drill injects no faults.
    let minimumFaults = 0
    /// Each delivery has ten messages per platform.
    let messages: Int64 = 200_000

    private static let messagesEach: Int64 = 20
    /// The goals for a release build on a machine where h2load makes 250,000 requests a second.
    private static let goalSeconds = 60.0
    private static let urgentSeconds = 2.0
    private static let urgentInterval = Duration.seconds(4)
    /// Of so many deliveries, the first has waves, the second a local time, and the third two variants.
    private static let campaignEvery: Int64 = 50
    /// The time allowed to start a delivery that exists, in seconds: ten times what it takes on an idle machine.
    private static let secondsPerStart = 0.02

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator()
        let host = try site.addHost("host", .usualChildren)
        let audience = try await site.audience([.ios, .android], count: Self.messagesEach)
        try await host.start()
        let deliveries = try await create(site, audience)
        let due = Date.now + Double(deliveries.count) * Self.secondsPerStart
        try await schedule(site, deliveries, at: due)
        site.expect(Date.now < due, "starting the deliveries took too long for them to be due at once")
        try await Task.sleep(for: .seconds(max(0, due.timeIntervalSinceNow)))
        let (seconds, urgent) = try await sendUrgentOnes(site, audience, until: site.messages)
        let longest = urgent.map(\.seconds).max() ?? 0
        site.note(
            "\(deliveries.count) deliveries took \((seconds * 10).rounded() / 10) s; \(urgent.count) urgent ones took "
                + "at most \((longest * 100).rounded() / 100) s"
        )
        if site.options.hasTimes {
            let factor = CrashPoint.isCompiledIn ? 3.0 : 1
            site.expect(
                seconds <= Self.goalSeconds * factor,
                "all took \(seconds) s; the goal is \(Self.goalSeconds * factor) s"
            )
            let goal = Self.urgentSeconds * (CrashPoint.isCompiledIn ? 2 : 1)
            site.expect(longest <= goal, "an urgent delivery took \(longest) s; the goal is \(goal) s")
        }
        let all = deliveries + urgent.map(\.delivery)
        for delivery in all { try await site.untilOver(delivery) }
        site.state.withLock { $0.deliveries += all }
        try await site.expectAllSent(all, attempts: 1...1)
    }

    private func create(_ site: DrillSite, _ audience: [String]) async throws -> [DrillDelivery] {
        let store = try site.store()
        var deliveries: [DrillDelivery] = []
        let new = NewDelivery(label: "Drill \(name)", applications: audience, content: TestAudience.content)
        for number in 0..<site.messages / Self.messagesEach {
            let id = try await store.createDelivery(new)
            if let plan = Self.plan(number % Self.campaignEvery) { try await store.setPlan(ofDelivery: id, plan) }
            if number % Self.campaignEvery == 2 {
                let halves = [ExperimentRule.Variant(percent: 50), ExperimentRule.Variant(percent: 50)]
                try await store.setExperiment(id, ExperimentRule(variants: halves))
            }
            deliveries.append(DrillDelivery(id: id, policy: .resend, messages: Self.messagesEach))
        }
        return deliveries
    }

    /// Schedules the deliveries for one moment.
    private func schedule(_ site: DrillSite, _ deliveries: [DrillDelivery], at moment: Date) async throws {
        let store = try site.store()
        let text = moment.formatted(.iso8601)
        for delivery in deliveries { try await store.startDelivery(delivery.id, at: text) }
        site.note("\(deliveries.count) deliveries start at \(text)")
    }

    /// The plan of one in some deliveries. Everybody still gets a message, and soon.
    private static func plan(_ number: Int64) -> DeliveryPlan? {
        var plan = DeliveryPlan()
        switch number {
        case 0: plan.waves = [DeliveryPlan.Wave(.percent(25)), DeliveryPlan.Wave()]
        case 1: (plan.localTime, plan.onPast) = ("2026-01-01T09:00", .now)
        default: return nil
        }
        return plan
    }

    /// An urgent delivery, and how long it took until all its messages were sent.
    private struct Urgent {
        let delivery: DrillDelivery
        let seconds: Double
    }

    /// Starts urgent deliveries, one after another, until the gateways have accepted all other messages.
    ///
    /// - Returns: How long that took, and the urgent deliveries.
    private func sendUrgentOnes(
        _ site: DrillSite,
        _ audience: [String],
        until messages: Int64
    ) async throws -> (seconds: Double, urgent: [Urgent]) {
        let store = try site.store()
        let start = ContinuousClock.now
        var urgent: [Urgent] = []
        var next = start + .seconds(1)
        var (accepted, changed): (Int64, ContinuousClock.Instant) = (-1, start)
        while true {
            let now = try await site.acceptedPushes()
            if now >= messages + Int64(urgent.count) * Self.messagesEach { break }
            if now != accepted { (accepted, changed) = (now, .now) }
            guard ContinuousClock.now - changed < DrillSite.timeout else {
                throw DrillFailure("\(now) of \(messages) messages were sent, and none for \(DrillSite.timeout)")
            }
            guard ContinuousClock.now >= next else {
                try await Task.sleep(for: .milliseconds(50))
                continue
            }
            next = .now + Self.urgentInterval
            let new = NewDelivery(
                label: "Drill \(name), urgent",
                applications: audience,
                content: TestAudience.content,
                priority: 9
            )
            let delivery = DrillDelivery(
                id: try await store.createDelivery(new),
                policy: .resend,
                messages: Self.messagesEach
            )
            let began = ContinuousClock.now
            try await store.startDelivery(delivery.id)
            try await site.until("an urgent delivery", within: DrillSite.timeout) {
                try await site.progress(delivery).sent == Self.messagesEach
            }
            urgent.append(Urgent(delivery: delivery, seconds: (ContinuousClock.now - began) / .seconds(1)))
        }
        return ((ContinuousClock.now - start) / .seconds(1), urgent)
    }
}
