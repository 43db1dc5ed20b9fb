import PostgresClient
import PushCore
import Store
import Synchronization

/// Looks at every delivery again and again: in each snapshot the counters have to be what the rows say, and together the target.
final class SnapshotWatcher: Sendable {
    private struct Seen: Sendable {
        var snapshots = 0
        var faults: [String] = []
    }

    /// The least time between two looks.
    private static let interval = Duration.milliseconds(250)
    /// A look takes its time on a large delivery; between two of them this many times as much passes, so that the watcher
    /// stays a small part of the load.
    private static let leisure = 4
    /// So many faults are kept; the first ones tell.
    private static let mostFaults = 20

    private let seen = Mutex(Seen())

    /// Looks until the task is cancelled. A database that is away is asked again.
    func watch(_ store: Store, _ deliveries: @Sendable () -> [Int64]) async {
        var over: Set<Int64> = []
        while !Task.isCancelled {
            let start = ContinuousClock.now
            for id in deliveries() where !over.contains(id) {
                if let isOver = await look(store, id), isOver { over.insert(id) }
            }
            let took = ContinuousClock.now - start
            try? await Task.sleep(for: max(Self.interval, took * Self.leisure))
        }
        await store.close()
    }

    /// Takes one snapshot.
    ///
    /// - Returns: Whether the delivery was over; `nil` if the database did not answer.
    @discardableResult
    func look(_ store: Store, _ id: Int64) async -> Bool? {
        let snapshot: DeliverySnapshot
        do {
            snapshot = try await store.snapshot(delivery: id)
        } catch {
            if !Self.isAbsence(error) { note("delivery \(id) cannot be looked at: \(error)") }
            return nil
        }
        let progress = snapshot.progress
        // The target grows while the delivery is prepared; it is read with the parts, so the equation holds then, too.
        let faults = snapshot.faults.map { "delivery \(id) (\(progress.state.rawValue)): \($0)" }
        seen.withLock { seen in
            seen.snapshots += 1
            seen.faults += faults.prefix(Self.mostFaults - seen.faults.count)
        }
        return progress.state.isFinal && progress.finishedAt != nil
    }

    /// Whether an error only says that the database cannot be asked now, as drills want it: any other one is a fault, or a
    /// snapshot that cannot be read would never be missed.
    static func isAbsence(_ error: any Error) -> Bool {
        if error is CancellationError { return true }
        guard let error = error as? PostgresError else { return false }
        switch error.code {
        case .connection, .closed, .pooler, .timeout: return true
        // A server that starts, stops, is full or very slow: classes 08 (connection), 40 (roll back), 53 (resources), 57
        // (an operator, a time limit), 58 (the system).
        case .sqlState(let state): return ["08", "40", "53", "57", "58"].contains { state.hasPrefix($0) }
        case .type: return false
        }
    }

    private func note(_ fault: String) {
        seen.withLock { seen in
            if seen.faults.count < Self.mostFaults, !seen.faults.contains(fault) { seen.faults.append(fault) }
        }
    }

    /// How many snapshots there were.
    var snapshots: Int { seen.withLock { $0.snapshots } }
    /// What was wrong with them.
    var faults: [String] { seen.withLock { $0.faults } }
}
