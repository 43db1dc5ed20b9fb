import Foundation
import PushCore
import Store

/// Reads what happens now, once for all pages that show it, and only while a page is open.
actor NowFeed {
    /// Figures that are read at their own pace.
    private struct Known: Sendable {
        var hour: PacedFigure<OutcomeHour>?
        var deliveries: PacedFigure<NowSnapshot.Deliveries>?
        var queues: PacedFigure<[EngineFigures.Queue]>?
        var alarms: PacedFigure<[AlarmRow]>?
        var history: PacedFigure<[AlarmRecord]>?
        var clock: PacedFigure<ZoneClock?>?
        /// The shortest response time of the database, most of which is the round trip.
        var trip = Duration.seconds(1)
    }

    private let database: ConsoleDatabase
    private let pages: PageRenderer
    private var reading: (began: ContinuousClock.Instant, task: Task<(NowSnapshot, Known), any Error>)?
    private var isRunning = false
    private var known = Known()
    private var history = RateHistory()
    private var rendered: [Language: NowPart] = [:]

    /// A younger reading is used again.
    static let pause = Duration.seconds(2)
    /// A bar of the chart is a minute.
    private static let hourPause = Duration.seconds(10)

    init(database: ConsoleDatabase, pages: PageRenderer) {
        self.database = database
        self.pages = pages
    }

    /// What happens now.
    func snapshot() async throws -> NowSnapshot {
        let now = ContinuousClock.now
        // Calls during a slow read share its result: reads never run in parallel.
        if let reading, isRunning || reading.began + Self.pause > now { return try await reading.task.value.0 }
        let task = Task { [database, known] in
            try await database.runLive { try await Self.read($0, known) }
        }
        reading = (now, task)
        isRunning = true
        defer { isRunning = false }
        do {
            let (snapshot, known) = try await task.value
            self.known = known
            history.note(snapshot.hosts, snapshot.children, at: snapshot.readAt)
            return snapshot
        } catch {
            reading = nil
            throw error
        }
    }

    /// The live part of the page, shared by all pages in the same language.
    func part() async throws -> NowPart {
        let snapshot = try await snapshot()
        let language = Language.current
        if let known = rendered[language], known.readAt == snapshot.readAt { return known }
        let view = NowView(snapshot: snapshot, history: history, catalogue: pages.catalogue)
        let values = Figures.$zone.withValue(snapshot.clock) { view.values }
        let html = pages.fragment("now-live", values)
        let part = NowPart(html: html, event: .html(html), readAt: snapshot.readAt)
        rendered[language] = part
        return part
    }

    /// The rates of the last minutes, with a reading of another page added.
    func history(with hosts: [HostRow], _ children: [ChildOverview], at date: Date = Date()) -> RateHistory {
        history.note(hosts, children, at: date)
        return history
    }

    private static func read(_ store: Store, _ known: Known) async throws -> (NowSnapshot, Known) {
        var known = known
        let begin = ContinuousClock.now
        let hosts = try await store.hosts()
        let middle = ContinuousClock.now
        let children = try await store.children()
        known.trip = min(known.trip, middle - begin, ContinuousClock.now - middle)
        let trip = known.trip
        let hour = try await PacedFigure.read(known.hour, least: hourPause, trip: trip) {
            try await store.outcomesOfLastHour()
        }
        // A full pause would make every other reading due a moment too late.
        let least = pause / 2
        let alarms = try await PacedFigure.read(known.alarms, least: least, trip: trip) { try await store.alarms() }
        let history = try await PacedFigure.read(known.history, least: hourPause, trip: trip) {
            try await store.alarmHistory(limit: NowSnapshot.maxMarks)
        }
        let queues = try await PacedFigure.read(known.queues, least: least, trip: trip) {
            try await store.waitingMessages()
        }
        let deliveries = try await PacedFigure.read(known.deliveries, least: least, trip: trip * 4) {
            let rows = try await store.openDeliveries(limit: NowSnapshot.maxDeliveries)
            return NowSnapshot.Deliveries(
                rows: rows,
                standings: try await store.approvalStandings(of: rows),
                lastCounts: try await store.lastCounts(of: rows)
            )
        }
        let clock = try await PacedFigure.read(known.clock, least: hourPause, trip: trip * 2) {
            try await store.commonClock()
        }
        let snapshot = NowSnapshot(
            hosts: hosts,
            children: children,
            alarms: alarms.value,
            history: history.value,
            queues: queues.value,
            deliveries: deliveries.value,
            hour: hour.value,
            readAt: Date(),
            clock: clock.value
        )
        (known.hour, known.alarms, known.queues, known.deliveries) = (hour, alarms, queues, deliveries)
        (known.history, known.clock) = (history, clock)
        return (snapshot, known)
    }
}
