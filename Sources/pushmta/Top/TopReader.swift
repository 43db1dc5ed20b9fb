import Foundation
import PostgresClient
import Store

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
