import Administration
import LaboratoryStore
import PostgresClient
import PushCore
import Store
import Synchronization

/// Compares the ambiguity counters of deliveries, children and hosts, which must agree.
struct CounterCheck: Sendable {
    /// The counters of deliveries, children or hosts.
    struct Counters: Sendable, Equatable {
        var unknown: Int64 = 0
        var resent: Int64 = 0
        var late: Int64 = 0
        var replayed: Int64 = 0

        /// The counters with their names, for messages.
        var named: [(name: String, value: Int64)] {
            [
                ("unknown", unknown), ("resent_after_ambiguity", resent), ("late_outcomes", late),
                ("journal_replayed", replayed),
            ]
        }
    }

    /// A list with fewer children is complete.
    private static let listedChildren = 100

    /// Returns the disagreements, each in words.
    ///
    /// A child reports its counters with its heartbeats. A killed child may therefore have reported less than the
    /// deliveries count; more is always wrong. A host's counters are the sums of its children's.
    ///
    /// - Parameter hosts: The hosts' counters; with `nil` they are not compared.
    static func faults(deliveries: Counters, children: Counters, hosts: Counters?) -> [String] {
        var faults: [String] = []
        for (index, counter) in children.named.enumerated() {
            let whole = deliveries.named[index].value
            if counter.value > whole {
                faults.append("\(counter.name): the children counted \(counter.value), the deliveries only \(whole)")
            }
            if let hosts, hosts.named[index].value != counter.value {
                faults.append(
                    "\(counter.name): the hosts counted \(hosts.named[index].value), their children \(counter.value)"
                )
            }
        }
        return faults
    }

    /// Returns the disagreements where no process was killed, so that children and deliveries must have counted the
    /// same.
    static func differences(deliveries: Counters, children: Counters) -> [String] {
        // The database counts late outcomes and replays, not the children.
        let counted = ["unknown", "resent_after_ambiguity"]
        return zip(deliveries.named, children.named).filter { counted.contains($0.name) && $0.value != $1.value }.map {
            "\($0.name): the children counted \($1.value), the deliveries \($0.value)"
        }
    }

    /// Reads and compares all counters.
    ///
    /// - Parameter wasRestored: Whether the database was restored to an earlier moment. Hosts then have replayed
    ///   journals of children that the database does not know.
    static func faults(_ store: Store, wasRestored: Bool = false) async throws -> [String] {
        let (children, hasAll) = try await children(store)
        var hosts = Counters()
        for host in try await store.hosts() {
            hosts.unknown += host.unknown
            hosts.resent += host.resentAfterAmbiguity
            hosts.late += host.lateOutcomes
            hosts.replayed += host.report.journalReplayed
        }
        return faults(
            deliveries: try await deliveries(store),
            children: children,
            hosts: hasAll && !wasRestored ? hosts : nil
        )
    }

    /// The sums of all deliveries' counters.
    static func deliveries(_ store: Store) async throws -> Counters {
        var deliveries = Counters()
        for progress in try await store.deliveries(limit: 10_000) {
            deliveries.unknown += progress.unknown
            deliveries.resent += progress.resentAfterAmbiguity
            deliveries.late += progress.lateOutcomes
            deliveries.replayed += progress.journalReplayed
        }
        return deliveries
    }

    /// The sums of the children's counters, and whether every child is in. The list has only the most recent children.
    static func children(_ store: Store) async throws -> (counters: Counters, hasAll: Bool) {
        var children = Counters()
        let overviews = try await store.children(includeExited: true)
        for child in overviews {
            children.unknown += child.report.counts.unknown
            children.resent += child.report.counts.resentAfterAmbiguity
            children.late += child.report.counts.lateOutcomes
            children.replayed += child.journalReplayed
        }
        return (children, overviews.count < Self.listedChildren)
    }
}

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
