import Foundation
import PostgresClient
import Store

/// What `pushmta top` shows of the database.
struct TopFigures: Sendable {
    /// The maximum number of deliveries, those served first: a user who wants another one knows its number.
    static let maxDeliveries: Int32 = 100

    var hosts: [HostRow] = []
    var children: [ChildOverview] = []
    var applications: [CircuitRow] = []
    /// The waiting messages.
    var queue: [QueueRow] = []
    /// The deliveries under way.
    var deliveries: [DeliveryProgress] = []
    /// Whether more deliveries are under way than these.
    var areDeliveriesCut = false
    var alarms: [AlarmRow] = []

    /// Takes in a reading.
    mutating func add(_ reading: TopReading) {
        switch reading.content {
        case .processes(let hosts, let children): (self.hosts, self.children) = (hosts, children)
        case .queues(let applications, let queue): (self.applications, self.queue) = (applications, queue)
        case .deliveries(let deliveries, let isCut): (self.deliveries, areDeliveriesCut) = (deliveries, isCut)
        case .alarms(let alarms): self.alarms = alarms
        }
    }
}

/// Figures that are read together, each at its own pace.
enum TopPart: Sendable, Hashable, CaseIterable {
    case processes, queues, deliveries, alarms
}

/// The result of one reading.
struct TopReading: Sendable {
    enum Content: Sendable {
        case processes([HostRow], [ChildOverview])
        case queues([CircuitRow], [QueueRow])
        case deliveries([DeliveryProgress], isCut: Bool)
        case alarms([AlarmRow])
    }

    let content: Content
    /// The time that the database spent on it, without the round trip.
    let cost: Duration
    let time: DatabaseTime

    var part: TopPart {
        switch content {
        case .processes: .processes
        case .queues: .queues
        case .deliveries: .deliveries
        case .alarms: .alarms
        }
    }
}

/// Reads what `pushmta top` shows, with the rights of pushmta_monitoring.
actor TopReader {
    private let store: Store
    /// The shortest response time of the database so far; nil before the first.
    private var roundTrip: Duration?

    init(store: Store) {
        self.store = store
    }

    /// Reads these parts; waits for the database as long as necessary.
    func read(_ parts: [TopPart]) async throws -> [TopReading] {
        var readings: [TopReading] = []
        for part in parts {
            // A statement without cost measures the round trip, which is no reason to read less often.
            let begin = ContinuousClock.now
            let isReadOnly = try await store.isReadOnly()
            let middle = ContinuousClock.now
            let trip = min(roundTrip ?? .seconds(1), middle - begin)
            roundTrip = trip
            let (content, statements) = try await read(part, isReadOnly: isReadOnly)
            let cost = max(.zero, ContinuousClock.now - middle - trip * statements)
            readings.append(TopReading(content: content, cost: cost, time: Self.now))
        }
        return readings
    }

    private func read(_ part: TopPart, isReadOnly: Bool) async throws -> (TopReading.Content, statements: Int) {
        switch part {
        case .processes: return (.processes(try await store.hosts(), try await store.children()), 2)
        case .queues: return (.queues(try await store.circuits(), try await store.queue()), 2)
        case .deliveries:
            let limit = TopFigures.maxDeliveries
            let rows = try await store.deliveriesUnderWay(atMost: limit + 1)
            return (.deliveries(Array(rows.prefix(Int(limit))), isCut: rows.count > Int(limit)), 1)
        case .alarms: return (.alarms((isReadOnly ? [.readOnly] : []) + (try await store.alarms())), 1)
        }
    }

    private static var now: DatabaseTime {
        DatabaseTime(microsecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000_000))
    }
}

extension AlarmRow {
    /// The alarm for a database that accepts no writes, which none of its views can raise.
    static let readOnly = AlarmRow(
        severity: .critical,
        code: "database_read_only",
        subjectKind: "database",
        text: PostgresError.readOnlyWords
    )
}
