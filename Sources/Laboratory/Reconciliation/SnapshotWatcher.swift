import LaboratoryStore
import PostgresClient
import PushCore
import Store
import Synchronization

/// Checks every delivery repeatedly. In each snapshot the counters must match the rows, and add up to the target.
final class SnapshotWatcher: Sendable {
    private struct Seen: Sendable {
        var snapshots = 0
        var faults: [String] = []
    }

    /// The minimum interval between snapshots.
    private static let interval = Duration.milliseconds(250)
    /// The pause between snapshots, as a multiple of the time that a snapshot takes. It keeps the watcher a small part
    /// of the load on large deliveries.
    private static let leisure = 4
    /// The maximum number of faults that are kept, the first ones.
    private static let maxFaults = 20

    private let seen = Mutex(Seen())

    /// Checks until the task is cancelled. An unreachable database is asked again.
    func watch(_ store: Store, _ deliveries: @Sendable () -> [Int64]) async {
        var over: Set<Int64> = []
        while !Task.isCancelled {
            let start = ContinuousClock.now
            for id in deliveries() where !over.contains(id) {
                if let isOver = await look(store, id, isThere: { deliveries().contains(id) }), isOver {
                    over.insert(id)
                }
            }
            let took = ContinuousClock.now - start
            try? await Task.sleep(for: max(Self.interval, took * Self.leisure))
        }
        await store.close()
    }

    /// Takes and checks one snapshot.
    ///
    /// - Parameter isThere: Whether the delivery should exist although it was not found. A restore may have removed it
    ///   meanwhile.
    /// - Returns: Whether the delivery was over; `nil` if the database did not answer.
    @discardableResult
    func look(_ store: Store, _ id: Int64, isThere: () -> Bool = { true }) async -> Bool? {
        let snapshot: DeliverySnapshot
        do {
            snapshot = try await store.snapshot(delivery: id)
        } catch {
            if !Self.isAbsence(error), isThere() { note("delivery \(id) cannot be read: \(error)") }
            return nil
        }
        let progress = snapshot.progress
        // The target grows during preparation. It is read in the same snapshot as the parts, so the sums match then,
        // too.
        let faults = snapshot.faults.map { "delivery \(id) (\(progress.state.rawValue)): \($0)" }
        seen.withLock { seen in
            seen.snapshots += 1
            seen.faults += faults.prefix(Self.maxFaults - seen.faults.count)
        }
        return progress.state.isFinal && progress.finishedAt != nil
    }

    /// Whether an error means that the database is temporarily unreachable, which drills cause on purpose. Any other
    /// error is a fault; otherwise a snapshot that can never be read would go unnoticed.
    static func isAbsence(_ error: any Error) -> Bool {
        if error is CancellationError { return true }
        guard let error = error as? PostgresError else { return false }
        switch error.code {
        case .connection, .closed, .pooler, .timeout: return true
        // The server starts, stops, is full or very slow: classes 08 (connection), 40 (transaction rollback), 53
        // (insufficient resources), 57 (operator intervention, timeouts), 58 (system error).
        case .sqlState(let state): return ["08", "40", "53", "57", "58"].contains { state.hasPrefix($0) }
        case .server, .type: return false
        }
    }

    private func note(_ fault: String) {
        seen.withLock { seen in
            if seen.faults.count < Self.maxFaults, !seen.faults.contains(fault) { seen.faults.append(fault) }
        }
    }

    /// The number of snapshots taken.
    var snapshots: Int { seen.withLock { $0.snapshots } }
    /// The faults found in the snapshots.
    var faults: [String] { seen.withLock { $0.faults } }
}
