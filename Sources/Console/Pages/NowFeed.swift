import Foundation
import PushCore
import Store

/// What happens now, as the database said at one moment.
struct NowSnapshot: Sendable {
    let hosts: [HostRow]
    let children: [ChildOverview]
    let alarms: [AlarmRow]
    let queues: [EngineFigures.Queue]
    let deliveries: [DeliveryProgress]
    let hour: OutcomeHour
    let readAt: Date

    /// So many open deliveries are shown: the list has all.
    static let mostDeliveries = 8
}

/// Reads what happens now for all who look at it, however many they are, and only while somebody does.
actor NowFeed {
    private let database: ConsoleDatabase
    private let pages: PageRenderer
    private var reading: (began: ContinuousClock.Instant, task: Task<NowSnapshot, any Error>)?
    private var isRunning = false
    private var hour: (readAt: ContinuousClock.Instant, value: OutcomeHour)?
    private var history = RateHistory()
    private var rendered: [Language: (readAt: Date, html: String)] = [:]

    /// What is younger is not read again.
    static let pause = Duration.seconds(2)
    /// A bar is a minute; it costs more than the rest.
    private static let hourPause = Duration.seconds(10)

    init(database: ConsoleDatabase, pages: PageRenderer) {
        self.database = database
        self.pages = pages
    }

    /// What happens now.
    func snapshot() async throws -> NowSnapshot {
        let now = ContinuousClock.now
        // Where a read takes longer than the pause, who comes meanwhile shares it: reads never run beside each other.
        if let reading, isRunning || reading.began + Self.pause > now { return try await reading.task.value }
        let known = hour.flatMap { $0.readAt + Self.hourPause > now ? $0.value : nil }
        let task = Task { [database] in
            try await database.runLive { try await Self.read($0, hour: known) }
        }
        reading = (now, task)
        isRunning = true
        defer { isRunning = false }
        do {
            let snapshot = try await task.value
            if known == nil { hour = (now, snapshot.hour) }
            history.note(snapshot.hosts, snapshot.children, at: snapshot.readAt)
            return snapshot
        } catch {
            reading = nil
            throw error
        }
    }

    /// The live part of the page, the same for everybody who reads the same language.
    func html() async throws -> String {
        let snapshot = try await snapshot()
        let language = Language.current
        if let known = rendered[language], known.readAt == snapshot.readAt { return known.html }
        let view = NowView(snapshot: snapshot, history: history, catalogue: pages.catalogue)
        let html = pages.fragment("now-live", view.values)
        rendered[language] = (snapshot.readAt, html)
        return html
    }

    /// The rates of the last minutes, with what another page has read.
    func history(with hosts: [HostRow], _ children: [ChildOverview], at date: Date = Date()) -> RateHistory {
        history.note(hosts, children, at: date)
        return history
    }

    private static func read(_ store: Store, hour known: OutcomeHour?) async throws -> NowSnapshot {
        let hour = if let known { known } else { try await store.outcomesOfLastHour() }
        return NowSnapshot(
            hosts: try await store.hosts(),
            children: try await store.children(),
            alarms: try await store.alarms(),
            queues: try await store.waitingMessages(),
            deliveries: try await store.openDeliveries(most: NowSnapshot.mostDeliveries),
            hour: hour,
            readAt: Date()
        )
    }
}
