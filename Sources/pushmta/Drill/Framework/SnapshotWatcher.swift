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
        guard let snapshot = try? await store.snapshot(delivery: id) else { return nil }
        let progress = snapshot.progress
        // The target grows while the delivery is prepared; it is read with the parts, so the equation holds then, too.
        let faults = snapshot.faults.map { "delivery \(id) (\(progress.state.rawValue)): \($0)" }
        seen.withLock { seen in
            seen.snapshots += 1
            seen.faults += faults.prefix(Self.mostFaults - seen.faults.count)
        }
        return progress.state.isFinal && progress.finishedAt != nil
    }

    /// How many snapshots there were.
    var snapshots: Int { seen.withLock { $0.snapshots } }
    /// What was wrong with them.
    var faults: [String] { seen.withLock { $0.faults } }
}
