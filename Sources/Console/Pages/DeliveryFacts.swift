import Foundation
import PushCore
import Store

/// Everything that the page of a delivery shows.
struct DeliveryFacts: Sendable {
    /// The counts, which change with each message.
    struct Counts: Sendable {
        let progress: DeliveryProgress
        /// Nil if it needs no approval, or has begun, unless it was rejected.
        let standing: ApprovalStanding?
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
        /// When the last message leaves, at the earliest, if some wait for their time; nil if that is not known.
        let endsAt: DatabaseTime?
        /// Its progress by time zone, if its plan goes by the recipient's clock.
        let zones: [DeliveryZone]
        let timeline: DeliveryTimeline
        /// The clock of the timeline's zone; nil for UTC.
        let clock: ZoneClock?
        /// Nil if it is none.
        let experiment: Experiment?
        let limits: [LimitRow]
        /// The health signal that its rate follows; nil if it follows none, or has ended.
        let signal: DeliverySignalRow?
        /// Nil if it was not recalled.
        let recall: RecallFacts?
    }

    /// An experiment with its variants.
    struct Experiment: Sendable {
        let row: ExperimentRow
        let variants: [ExperimentVariantRow]
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

    /// Its messages, as all parts of its page show them; nil if they are not made yet.
    var number: TargetNumber? {
        progress.kind == .continuous ? .exact(target) : TargetNumber(progress)
    }

    /// Whether its figures change: also after its end, while its last outcomes come in, most of its receipts and
    /// clicks, results of its experiment, or what became of its recall.
    var isFollowed: Bool {
        guard progress.state.isFinal, count(.pending) == 0 else { return true }
        if let recall = reasons.recall { return !recall.isOver(at: progress.now) }
        // What arrived can be received and clicked.
        if count(.sent) + count(.unknown) > 0, let end = progress.finishedAt,
            end.advanced(byMilliseconds: Self.followedMilliseconds) > progress.now
        {
            return true
        }
        return progress.state == .finished && reasons.experiment?.row.state == .running
    }

    /// Whether its page has a funnel and outcomes: its messages are made, or those that are made may leave.
    var isCounted: Bool {
        guard let number else { return false }
        return number != .growing || progress.state != .analysing
    }

    /// What the buttons of its page and its fixed parts depend on, besides its state, and whether the page is live.
    var look: String {
        let count =
            switch number {
            case nil: "uncounted"
            case .growing?: "growing"
            default: "counted"
            }
        let approval =
            switch counts.standing {
            case nil: ""
            case .awaited?: "-awaited"
            case .approved?: "-approved"
            case .rejected?: "-rejected"
            }
        let experiment = reasons.experiment.map { "-\($0.row.state.rawValue)" } ?? ""
        let recall = reasons.recall?.child == nil ? "" : "-recall"
        return count + approval + experiment + recall + (isFollowed ? "" : "-over")
    }

    /// Whether its messages are made, so that no number of them grows any more.
    var isMade: Bool {
        if case .exact? = number { true } else { false }
    }

    /// How long its page is followed after its end. Devices that are on report a receipt within seconds, and most
    /// people who open a message do so within minutes; later ones are shown when the page is loaded again.
    private static let followedMilliseconds: Int64 = 10 * 60_000
    /// The maximum number of reasons shown; the rest are rare.
    private static let maxReasons = 30
    /// The maximum number of time zones shown.
    private static let maxZones = 40
    /// What was sent within this time is shown by the minute.
    private static let byMinute: Int64 = 2 * 3_600 * 1_000_000

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
            standing: try await store.approvalStandings(of: [progress])[id],
            funnel: try await store.funnel(deliveries: [id] + shown.map(\.id)),
            days: shown,
            hasOlderDays: days.count > DeliveryDetailPage.maxDays
        )
    }

    static func reasons(_ store: Store, _ counts: Counts) async throws -> Reasons {
        let progress = counts.progress
        let all = [progress.id] + counts.days.map(\.id)
        let signal = progress.state.isFinal ? nil : try await store.signal(ofDelivery: progress.parentID ?? progress.id)
        let plan = try await store.plan(ofDelivery: progress.id)
        let timeline = try await store.timeline(ofDeliveries: all, byMinute: isShort(progress))
        return Reasons(
            byApplication: try await store.outcomesByApplication(deliveries: all),
            failures: try await store.failureCounts(deliveries: all, limit: maxReasons),
            words: try await store.refusals(deliveries: all),
            exclusions: try await store.boundedExclusions(delivery: progress.id),
            plan: plan,
            endsAt: (plan?.plannedMessages ?? 0) > 0 && !progress.state.isFinal
                ? try await store.sendingEnd(ofDelivery: progress.id) : nil,
            zones: plan == nil ? [] : try await store.zones(ofDelivery: progress.id, limit: maxZones),
            timeline: timeline,
            clock: timeline.zone == ZoneMenu.utc ? nil : try await store.clock(ofZone: timeline.zone),
            experiment: progress.parentID == nil ? try await experiment(store, progress.id) : nil,
            limits: progress.state.isFinal || progress.state == .editing
                ? [] : try await store.limits(of: .delivery(progress.id)),
            signal: signal,
            recall: progress.state == .recalled ? try await RecallFacts.read(store, progress.id) : nil
        )
    }

    /// Whether it began lately, or was over soon.
    private static func isShort(_ progress: DeliveryProgress) -> Bool {
        guard let started = progress.startedAt else { return false }
        let end = progress.finishedAt ?? progress.now
        return end.microsecondsSince1970 - started.microsecondsSince1970 <= byMinute
    }

    private static func experiment(_ store: Store, _ id: Int64) async throws -> Experiment? {
        guard let row = try await store.experiment(ofDelivery: id) else { return nil }
        return Experiment(row: row, variants: try await store.experimentVariants(ofDelivery: id))
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
