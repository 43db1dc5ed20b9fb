import Administration
import Foundation
import PushCore
import Store
import Synchronization

/// Far more applications than children can run, each with a little to send, and a slow token endpoint.
struct ManyApplicationsDrill: Drill {
    let name = "many-applications"
    let summary =
        "500 applications of both platforms with 20 messages each, default settings, a token endpoint that takes 1 s; "
        + "then single messages in parallel with a large delivery"
    let promise =
        "all sent, one child per application, the 500 in 60 s (twice that in a debug build); the large delivery "
        + "delays no single message by a second"
    var needs: [DrillNeed] { [.simulator] }
    /// The drill injects no faults.
    let minimumFaults = 0
    let messages: Int64 = 10_000

    private static let messagesEach: Int64 = 20
    private static let few = 10
    private static let tokenDelayMilliseconds = 1_000
    /// The goal for a release build on a machine where h2load makes 250,000 requests a second.
    private static let goalSeconds = 60.0
    /// More messages than a child sends while the single messages run. A debug build sends at a fifth of the speed.
    private static let largeMessages: Int64 = CrashPoint.isCompiledIn ? 300_000 : 1_500_000
    private static let singles = 20

    func run(_ site: DrillSite) async throws {
        try await site.startCluster()
        try await site.startSimulator()
        let host = try site.addHost("host", .usualChildren)
        let crowd = try await applications(
            site,
            Int(site.messages / Self.messagesEach),
            each: Self.messagesEach,
            "crowd"
        )
        let few = try await applications(site, Self.few, each: site.messages / Int64(Self.few), "few")
        try await site.control?.post("/oauth", "{\"delay_ms\":\(Self.tokenDelayMilliseconds)}")
        try await host.start()
        let fewSeconds = try await send(site, to: few, each: site.messages / Int64(Self.few))
        let before = starts(host)
        let seconds = try await send(site, to: crowd, each: Self.messagesEach)
        let started = starts(host) - before
        site.note(
            "\(site.messages) messages: \(few.count) applications took \(tenths(fewSeconds)) s, \(crowd.count) took "
                + "\(tenths(seconds)) s with \(started) children"
        )
        // A few children may die or find nothing to do; more would be a restart loop.
        site.expect(
            started <= crowd.count * 11 / 10,
            "\(started) children were started for \(crowd.count) applications"
        )
        if site.options.hasTimes {
            let goal = Self.goalSeconds * (CrashPoint.isCompiledIn ? 2 : 1)
            site.expect(
                seconds <= goal,
                "\(crowd.count) applications took \(tenths(seconds)) s; the goal is \(tenths(goal)) s"
            )
        }
        try await sendSingles(site, few)
    }

    private func applications(
        _ site: DrillSite,
        _ count: Int,
        each: Int64,
        _ prefix: String
    ) async throws -> [String] {
        let audience = TestAudience(
            store: try site.store(),
            settings: site.settings(),
            simulator: try site.gateway(),
            prefix: prefix
        )
        let names = try await audience.createMany(count)
        try await audience.seed(names, count: each * Int64(count))
        return names
    }

    /// Sends a delivery to each application and waits for all of them; returns the seconds from the first start.
    private func send(_ site: DrillSite, to applications: [String], each: Int64) async throws -> Double {
        let store = try site.store()
        var deliveries: [DrillDelivery] = []
        for application in applications {
            let new = NewDelivery(
                label: "Drill \(name)",
                applications: [application],
                content: TestAudience.content
            )
            deliveries.append(DrillDelivery(id: try await store.createDelivery(new), policy: .resend, messages: each))
        }
        let start = ContinuousClock.now
        for delivery in deliveries { try await store.startDelivery(delivery.id) }
        // The deliveries are watched only from now on: hundreds of snapshots at once would be most of the load.
        for delivery in deliveries { try await site.untilOver(delivery) }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        site.state.withLock { $0.deliveries += deliveries }
        return seconds
    }

    /// Sends single messages to small applications, first alone, then in parallel with another application's large
    /// delivery.
    private func sendSingles(_ site: DrillSite, _ few: [String]) async throws {
        let store = try site.store()
        let (large, others) = (few[0], Array(few[1...4]))
        let continuous = try await startContinuous(site, others)
        let batches = Set(site.deliveries.map(\.id))
        let (alone, _) = try await delays(site, continuous)
        try await store.seedSubscriptions(application: large, count: Self.largeMessages)
        let have = site.messages / Int64(Self.few)
        let delivery = try await site.deliver(to: [large], messages: Self.largeMessages + have)
        try await site.untilSent(delivery, share: 0.02)
        let (beside, arrived) = try await delays(site, continuous)
        let days = Set(site.deliveries.map(\.id)).subtracting(batches).subtracting([delivery.id])
        site.note(
            "single messages took at most \(tenths(alone)) s alone and \(tenths(beside)) s during a large delivery"
        )
        site.expect(
            beside - alone < 1,
            "single messages took \(tenths(beside)) s during a large delivery and \(tenths(alone)) s alone"
        )
        try await site.untilOver(delivery)
        var end = 0.0
        try await site.pushes { line, message in
            if message?.delivery == delivery.id { end = max(end, line.time) }
        }
        site.expect(end > arrived, "the large delivery was over before the single messages had arrived")
        // Continuous deliveries do not end; the reconciliation checks their messages.
        try await site.expectAllSent(site.deliveries.filter { !days.contains($0.id) }, attempts: 1...1)
    }

    private func startContinuous(_ site: DrillSite, _ applications: [String]) async throws -> [String: Int64] {
        let store = try site.store()
        var deliveries: [String: Int64] = [:]
        for application in applications {
            var new = NewDelivery(
                label: "Drill \(name)",
                applications: [application],
                content: TestAudience.content
            )
            new.isContinuous = true
            let id = try await store.createDelivery(new)
            try await store.startDelivery(id)
            deliveries[application] = id
            try await site.until("a delivery that accepts messages", within: DrillSite.timeout) {
                try await store.deliveryProgress(id).state == .inProgress
            }
        }
        return deliveries
    }

    /// The longest time from the sending of a single message to its arrival at the gateway, in seconds, and when the
    /// last one arrived.
    private func delays(
        _ site: DrillSite,
        _ deliveries: [String: Int64]
    ) async throws -> (longest: Double, last: Double) {
        let store = try site.store()
        var begun: [MessageKey: Double] = [:]
        for (application, id) in deliveries.sorted(by: { $0.key < $1.key }) {
            for subscription in try await store.subscriptions(application: application, limit: Self.singles) {
                let now = Date().timeIntervalSince1970
                let message = NewMessage(deliveryID: id, address: .subscription(subscription.id))
                for sent in try await store.sendMessage(message) {
                    begun[MessageKey(delivery: sent.deliveryID, sequence: sent.sequence)] = now
                }
            }
        }
        note(days: Dictionary(grouping: begun.keys, by: \.delivery).mapValues { Int64($0.count) }, site)
        var (longest, last) = (0.0, 0.0)
        try await site.until(
            "the single messages at the gateways",
            within: DrillSite.timeout,
            every: .milliseconds(100)
        ) {
            var left = begun
            (longest, last) = (0, 0)
            try await site.pushes { line, message in
                guard let message, line.isAccepted,
                    let time = left.removeValue(
                        forKey: MessageKey(delivery: message.delivery, sequence: message.sequence)
                    )
                else { return }
                longest = max(longest, line.time - time)
                last = max(last, line.time)
            }
            return left.isEmpty
        }
        return (longest, last)
    }

    /// Adds the continuous deliveries to the reconciliation.
    private func note(days: [Int64: Int64], _ site: DrillSite) {
        site.state.withLock { state in
            for (day, count) in days.sorted(by: { $0.key < $1.key }) {
                if let place = state.deliveries.firstIndex(where: { $0.id == day }) {
                    let before = state.deliveries[place].messages
                    state.deliveries[place] = DrillDelivery(id: day, policy: .resend, messages: before + count)
                } else {
                    state.deliveries.append(DrillDelivery(id: day, policy: .resend, messages: count))
                }
            }
        }
    }

    /// The number of children that a host has started so far, according to its log.
    private func starts(_ host: DrillHost) -> Int {
        let log = (try? String(contentsOfFile: host.log, encoding: .utf8)) ?? ""
        return log.split(separator: "\n").count { $0.contains("Starting child ") }
    }

    private func tenths(_ seconds: Double) -> Double { (seconds * 10).rounded() / 10 }

    private struct MessageKey: Hashable {
        let delivery: Int64
        let sequence: Int32
    }
}
