import Administration
import Foundation
import PushCore
import Store
import Synchronization

extension DrillSite {
    /// How long a delivery may make no progress before it counts as stuck.
    static let timeout = Duration.seconds(120)

    /// Makes an application for each of these platforms, with subscribers spread evenly.
    ///
    /// - Parameter count: The total number of subscribers; `nil`: as many as a delivery has messages.
    /// - Returns: The applications' names, in the order of the platforms.
    func audience(_ platforms: [Platform] = [.ios], count: Int64? = nil, prefix: String = "drill") async throws
        -> [String]
    {
        let store = try store()
        let audience = TestAudience(store: store, settings: settings(), simulator: try gateway(), prefix: prefix)
        let applications = try await audience.create(platforms)
        try await audience.seed(applications, count: count ?? messages)
        return applications
    }

    /// Creates and starts a delivery. The site watches it and includes it in the reconciliation.
    ///
    /// - Parameters:
    ///   - messages: The number of messages that these applications' subscribers get; `nil`: the whole audience's.
    ///   - allows: The statuses in which its messages may end, in addition to sent.
    ///   - change: Changes the delivery before it is created.
    func deliver(
        to applications: [String],
        policy: AmbiguityPolicy = .resend,
        messages: Int64? = nil,
        allows: Set<MessageStatus> = [],
        _ change: (inout NewDelivery) -> Void = { _ in }
    ) async throws -> DrillDelivery {
        let store = try store()
        var new = NewDelivery(
            label: "Drill \(name)",
            applications: applications,
            content: TestAudience.content,
            ambiguityPolicy: policy
        )
        change(&new)
        let id = try await store.createDelivery(new)
        let delivery = DrillDelivery(
            id: id,
            policy: new.ambiguityPolicy,
            messages: messages ?? self.messages,
            allows: allows
        )
        state.withLock { $0.deliveries.append(delivery) }
        try await store.startDelivery(id)
        note("delivery \(id) started, policy \(new.ambiguityPolicy.rawValue)")
        return delivery
    }

    /// Watches a delivery that the engine has made, and includes it in the reconciliation.
    func watch(_ delivery: DrillDelivery) {
        state.withLock { $0.deliveries.append(delivery) }
    }

    /// Starts a delivery to this audience. While faults still wait for load, another delivery starts whenever all are
    /// over. So the number of faults that land does not depend on the machine's speed.
    ///
    /// - Parameters:
    ///   - hasCampaigns: Whether deliveries with waves, local times, caps and experiments run beside it.
    ///   - change: Changes each plain delivery before it is created.
    func keepSending(
        to audience: [String],
        policy: AmbiguityPolicy = .resend,
        hasCampaigns: Bool = true,
        _ change: @escaping @Sendable (inout NewDelivery) -> Void = { _ in }
    ) async throws {
        state.withLock { $0.load = DrillLoad(audience: audience, policy: policy, change: change) }
        _ = try await deliver(to: audience, policy: policy, change)
        if hasCampaigns { try await beginCampaigns(to: audience, policy: policy) }
    }

    /// A delivery's current counters.
    func progress(_ delivery: DrillDelivery) async throws -> DeliveryProgress {
        try await store().deliveryProgress(delivery.id)
    }

    /// Waits until every delivery is over.
    func untilOver(timeout: Duration = timeout) async throws {
        for delivery in deliveries { try await untilOver(delivery, timeout: timeout) }
    }

    /// Waits until a delivery is over and its end is stored.
    ///
    /// - Throws: `DrillFailure` if its counters do not change for `timeout`.
    @discardableResult
    func untilOver(_ delivery: DrillDelivery, timeout: Duration = timeout) async throws -> DeliveryProgress {
        var resolved: Int64 = -1
        var changed = ContinuousClock.now
        while true {
            let progress = try await ifReachable { try await self.progress(delivery) }
            if let progress, progress.state.isFinal, progress.finishedAt != nil { return progress }
            if let progress, progress.target - progress.pending != resolved {
                resolved = progress.target - progress.pending
                changed = .now
            }
            guard ContinuousClock.now - changed < timeout else {
                throw DrillFailure(
                    "delivery \(delivery.id) has made no progress for \(timeout): \(Self.words(progress))"
                )
            }
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    private static func words(_ progress: DeliveryProgress?) -> String {
        guard let progress else { return "the database does not answer" }
        return "\(progress.pending) of \(progress.target) pending, parts \(progress.partsReady) ready, "
            + "\(progress.partsClaimed) claimed, \(progress.partsWaiting) waiting"
    }

    /// Starts another delivery of the load if all plain deliveries are over, and other campaigns if those are.
    func refill() async throws {
        guard let load = state.withLock({ $0.load }) else { return }
        try await refillCampaigns()
        for delivery in deliveries.reversed() where delivery.campaign == nil {
            guard try await progress(delivery).state.isFinal else { return }
        }
        _ = try await deliver(to: load.audience, policy: load.policy, load.change)
    }
}

/// The deliveries that keep a drill busy: another one starts when all are over.
struct DrillLoad: Sendable {
    /// The applications that each goes to.
    let audience: [String]
    /// What becomes of ambiguous messages.
    let policy: AmbiguityPolicy
    /// Changes each delivery before it is created.
    let change: @Sendable (inout NewDelivery) -> Void
}

extension NewDelivery {
    /// Retries a message many times, each time soon. Several faults may hit the same message, and none may fail because
    /// of that.
    mutating func keepTrying() {
        maxRetries = 50
        retryPeriodSeconds = 1
    }
}
