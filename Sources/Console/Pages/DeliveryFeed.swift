import Foundation
import PushCore
import Store

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
    private var meters: [Int64: RateMeter] = [:]

    /// A delivery that no page has read for this time is dropped.
    private static let kept = Duration.seconds(30)
    /// The same for its rate, which pages without a script read more slowly.
    private static let metered: Int64 = 120_000

    init(database: ConsoleDatabase, pages: PageRenderer, meanings: @escaping @Sendable (String) -> String?) {
        self.database = database
        self.pages = pages
        self.meanings = meanings
    }

    /// The live part of a delivery's page, shared by all pages in the same language, and what it shows.
    func part(_ id: Int64) async throws -> (part: NowPart, facts: DeliveryFacts) {
        let (facts, _, readAt) = try await facts(id)
        let language = Language.current
        if let known = entries[id]?.rendered[language], known.readAt == readAt { return (known, facts) }
        let view = DeliveryView(
            facts: facts,
            rate: rate(noting: facts.progress),
            isLater: false,
            catalogue: pages.catalogue,
            meanings: meanings
        )
        let values = Figures.$zone.withValue(facts.reasons.clock) { view.values }
        let html = pages.fragment("delivery-live", values)
        let part = NowPart(html: html, event: .html(html), readAt: readAt)
        entries[id]?.rendered[language] = part
        return (part, facts)
    }

    /// The present rate of a delivery in messages a second, with this reading added; nil if it is not known yet, or
    /// nothing is sent.
    func rate(noting progress: DeliveryProgress) -> Double? {
        let oldest = progress.now.advanced(byMilliseconds: -Self.metered)
        meters = meters.filter { $0.value.lastReading.map { $0 > oldest } ?? false }
        meters[progress.id, default: RateMeter()].note(progress)
        return meters[progress.id]?.rate
    }

    /// Takes the reasons that a page with the newest days has just read in place of older ones. Compared with those, the
    /// page would have changed, and would be loaded every two seconds until they are due.
    func note(_ facts: DeliveryFacts) {
        let id = facts.progress.id
        guard let old = entries[id]?.known.reasons else { return }
        entries[id]?.known.reasons = PacedFigure(value: facts.reasons, readAt: ContinuousClock.now, cost: old.cost)
    }

    private func facts(_ id: Int64) async throws -> (DeliveryFacts, Known, Date) {
        let now = ContinuousClock.now
        // Calls during a read share its result, as in ``NowFeed``.
        if let entry = entries[id], entry.isRunning || entry.began + NowFeed.pause > now {
            return try await entry.task.value
        }
        let known = entries[id]?.known ?? Known()
        entries = entries.filter { $0.value.isRunning || $0.value.began + Self.kept > now }
        let others = entries.keys.filter { $0 != id }.count
        let share = PacedFigure<DeliveryFacts.Reasons>.shareAmong(others + 1)
        let task = Task { [database] in try await database.runLive { try await Self.read($0, id, known, share) } }
        entries[id] = Entry(began: now, task: task, known: known, rendered: entries[id]?.rendered ?? [:])
        do {
            let read = try await task.value
            let noted = entries[id]?.known.reasons
            entries[id]?.known = read.1
            // A page may have read them meanwhile.
            if let noted, let own = read.1.reasons, noted.readAt > own.readAt { entries[id]?.known.reasons = noted }
            entries[id]?.isRunning = false
            return read
        } catch {
            entries[id] = nil
            throw error
        }
    }

    private static func read(_ store: Store, _ id: Int64, _ known: Known, _ share: Int) async throws
        -> (DeliveryFacts, Known, Date)
    {
        var known = known
        let begin = ContinuousClock.now
        let applications = try await store.applicationNames(ofDeliveries: [id])[id] ?? []
        known.trip = min(known.trip, ContinuousClock.now - begin)
        // A full pause would make every other reading due a moment too late.
        let least = NowFeed.pause / 2
        // The counts take three statements, the reasons eight.
        let counts = try await PacedFigure.read(known.counts, least: least, trip: known.trip * 3, share: share) {
            try await DeliveryFacts.counts(store, id)
        }
        // In another state it has another plan, experiment and so on: old ones would contradict the counts. Those of
        // its last messages stay on pages for long.
        let (before, after) = (known.counts?.value.progress, counts.value.progress)
        let isSame = before?.state == after.state && (before?.pending == 0) == (after.pending == 0)
        let last = isSame ? known.reasons : nil
        let reasons = try await PacedFigure.read(last, least: least, trip: known.trip * 8, share: share) {
            try await DeliveryFacts.reasons(store, counts.value)
        }
        (known.counts, known.reasons) = (counts, reasons)
        let facts = DeliveryFacts(applications: applications, counts: counts.value, reasons: reasons.value)
        return (facts, known, Date())
    }
}
