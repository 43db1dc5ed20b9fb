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
        let limits: [LimitRow]
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
        return Reasons(
            byApplication: try await store.outcomesByApplication(deliveries: all),
            failures: try await store.failureCounts(deliveries: all, limit: maxReasons),
            words: try await store.refusals(deliveries: all),
            exclusions: try await store.boundedExclusions(delivery: progress.id),
            limits: progress.state.isFinal || progress.state == .editing
                ? [] : try await store.limits(of: .delivery(progress.id))
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

/// Reads the deliveries that are open in pages, each once for all pages, and only while a page is open.
actor DeliveryFeed {
    /// Figures that are read at their own pace.
    private struct Known: Sendable {
        var counts: PacedFigure<DeliveryFacts.Counts>?
        var reasons: PacedFigure<DeliveryFacts.Reasons>?
        /// The shortest response time of the database, most of which is the round trip.
        var trip = Duration.seconds(1)
    }

    private struct Entry {
        let began: ContinuousClock.Instant
        let task: Task<(DeliveryFacts, Known, Date), any Error>
        var isRunning = true
        var known: Known
        var rendered: [Language: NowPart] = [:]
    }

    private let database: ConsoleDatabase
    private let pages: PageRenderer
    private let meanings: @Sendable (String) -> String?
    private var entries: [Int64: Entry] = [:]

    /// A delivery that no page has read for this time is dropped.
    private static let kept = Duration.seconds(30)

    init(database: ConsoleDatabase, pages: PageRenderer, meanings: @escaping @Sendable (String) -> String?) {
        self.database = database
        self.pages = pages
        self.meanings = meanings
    }

    /// The live part of a delivery's page, shared by all pages in the same language, and the delivery's progress.
    func part(_ id: Int64) async throws -> (part: NowPart, progress: DeliveryProgress) {
        let (facts, _, readAt) = try await facts(id)
        let language = Language.current
        if let known = entries[id]?.rendered[language], known.readAt == readAt { return (known, facts.progress) }
        let view = DeliveryView(facts: facts, isLater: false, catalogue: pages.catalogue, meanings: meanings)
        let html = pages.fragment("delivery-live", view.values)
        let part = NowPart(html: html, event: .html(html), readAt: readAt)
        entries[id]?.rendered[language] = part
        return (part, facts.progress)
    }

    private func facts(_ id: Int64) async throws -> (DeliveryFacts, Known, Date) {
        let now = ContinuousClock.now
        // Calls during a read share its result, as in ``NowFeed``.
        if let entry = entries[id], entry.isRunning || entry.began + NowFeed.pause > now {
            return try await entry.task.value
        }
        let known = entries[id]?.known ?? Known()
        entries = entries.filter { $0.value.isRunning || $0.value.began + Self.kept > now }
        let task = Task { [database] in try await database.runLive { try await Self.read($0, id, known) } }
        entries[id] = Entry(began: now, task: task, known: known, rendered: entries[id]?.rendered ?? [:])
        do {
            let read = try await task.value
            entries[id]?.known = read.1
            entries[id]?.isRunning = false
            return read
        } catch {
            entries[id] = nil
            throw error
        }
    }

    private static func read(_ store: Store, _ id: Int64, _ known: Known) async throws -> (DeliveryFacts, Known, Date) {
        var known = known
        let begin = ContinuousClock.now
        let applications = try await store.applicationNames(ofDeliveries: [id])[id] ?? []
        known.trip = min(known.trip, ContinuousClock.now - begin)
        // A full pause would make every other reading due a moment too late.
        let least = NowFeed.pause / 2
        // The counts take two statements, the reasons four.
        let counts = try await PacedFigure.read(known.counts, least: least, trip: known.trip * 2) {
            try await DeliveryFacts.counts(store, id)
        }
        let reasons = try await PacedFigure.read(known.reasons, least: least, trip: known.trip * 4) {
            try await DeliveryFacts.reasons(store, counts.value)
        }
        (known.counts, known.reasons) = (counts, reasons)
        let facts = DeliveryFacts(applications: applications, counts: counts.value, reasons: reasons.value)
        return (facts, known, Date())
    }
}
