import Foundation
import PushCore
import Store

/// Everything that the page of a delivery shows.
struct DeliveryFacts: Sendable {
    /// The counts, which change with each message.
    struct Counts: Sendable {
        let progress: DeliveryProgress
        let funnel: DeliveryFunnel
        /// The days of a continuous delivery that the page shows, newest first.
        let days: [DeliveryDay]
        /// Whether there are older days.
        let hasOlderDays: Bool
    }

    /// Figures that are read less often because they cost more.
    struct Reasons: Sendable {
        let byApplication: [ApplicationOutcomes]
        let failures: [FailureCount]
        let words: [DeliveryRefusal]
        let exclusions: (counts: [BoundedCount], isPartial: Bool)
        /// Nil if it has none.
        let plan: DeliveryPlanRow?
        let limits: [LimitRow]
        /// The health signal that its rate follows; nil if it follows none, or has ended.
        let signal: DeliverySignalRow?
    }

    let applications: [String]
    let counts: Counts
    let reasons: Reasons

    var progress: DeliveryProgress { counts.progress }

    /// Messages with a status, including those of its days.
    func count(_ status: MessageStatus) -> Int64 {
        let own =
            switch status {
            case .sent: progress.sent
            case .pending: progress.pending
            case .failed: progress.failed
            case .ignored: progress.ignored
            case .notApplicable: progress.notApplicable
            case .canceled: progress.canceled
            case .unknown: progress.unknown
            }
        return counts.days.reduce(own) { $0 + ($1.counts[status] ?? 0) }
    }

    /// All messages, including those of its days.
    var target: Int64 { counts.days.reduce(progress.target) { $0 + $1.target } }

    /// The maximum number of reasons shown; the rest are rare.
    private static let maxReasons = 30

    static func counts(_ store: Store, _ id: Int64, daysBelow: Int64 = .max) async throws -> Counts {
        let progress = try await store.deliveryProgress(id)
        let isContinuous = progress.kind == .continuous && progress.parentID == nil
        // One extra day shows whether there are more.
        let days =
            isContinuous
            ? try await store.days(ofDelivery: id, below: daysBelow, limit: DeliveryDetailPage.maxDays + 1) : []
        let shown = Array(days.prefix(DeliveryDetailPage.maxDays))
        return Counts(
            progress: progress,
            funnel: try await store.funnel(deliveries: [id] + shown.map(\.id)),
            days: shown,
            hasOlderDays: days.count > DeliveryDetailPage.maxDays
        )
    }

    static func reasons(_ store: Store, _ counts: Counts) async throws -> Reasons {
        let progress = counts.progress
        let all = [progress.id] + counts.days.map(\.id)
        let signal = progress.state.isFinal ? nil : try await store.signal(ofDelivery: progress.parentID ?? progress.id)
        return Reasons(
            byApplication: try await store.outcomesByApplication(deliveries: all),
            failures: try await store.failureCounts(deliveries: all, limit: maxReasons),
            words: try await store.refusals(deliveries: all),
            exclusions: try await store.boundedExclusions(delivery: progress.id),
            plan: try await store.plan(ofDelivery: progress.id),
            limits: progress.state.isFinal || progress.state == .editing
                ? [] : try await store.limits(of: .delivery(progress.id)),
            signal: signal
        )
    }

    static func read(_ store: Store, _ id: Int64, daysBelow: Int64) async throws -> DeliveryFacts {
        let counts = try await counts(store, id, daysBelow: daysBelow)
        return DeliveryFacts(
            applications: try await store.applicationNames(ofDeliveries: [id])[id] ?? [],
            counts: counts,
            reasons: try await reasons(store, counts)
        )
    }
}
