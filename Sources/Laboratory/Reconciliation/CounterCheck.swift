import Administration
import LaboratoryStore
import PostgresClient
import PushCore
import Store
import Synchronization

/// The counters of ambiguity: per delivery, per child and per host they have to agree.
struct CounterCheck: Sendable {
    /// The counters at one place.
    struct Counters: Sendable, Equatable {
        var unknown: Int64 = 0
        var resent: Int64 = 0
        var late: Int64 = 0
        var replayed: Int64 = 0

        /// By name, for messages.
        var named: [(name: String, value: Int64)] {
            [
                ("unknown", unknown), ("resent_after_ambiguity", resent), ("late_outcomes", late),
                ("journal_replayed", replayed),
            ]
        }
    }

    /// A list of children that is shorter has all of them.
    private static let listedChildren = 100

    /// What does not agree.
    ///
    /// A child tells its counters with its heartbeats, so one that was killed may have told less than the deliveries know; more is
    /// always wrong. Hosts are the sums of their children.
    ///
    /// - Parameter hosts: `nil`: not compared.
    static func faults(deliveries: Counters, children: Counters, hosts: Counters?) -> [String] {
        var faults: [String] = []
        for (index, counter) in children.named.enumerated() {
            let whole = deliveries.named[index].value
            if counter.value > whole {
                faults.append("\(counter.name): the children counted \(counter.value), the deliveries only \(whole)")
            }
            if let hosts, hosts.named[index].value != counter.value {
                faults.append(
                    "\(counter.name): the hosts say \(hosts.named[index].value), their children \(counter.value)"
                )
            }
        }
        return faults
    }

    /// What does not agree where no process was killed: children and deliveries have counted the same.
    static func differences(deliveries: Counters, children: Counters) -> [String] {
        // Late outcomes and replays are counted where the database finds them.
        let counted = ["unknown", "resent_after_ambiguity"]
        return zip(deliveries.named, children.named).filter { counted.contains($0.name) && $0.value != $1.value }.map {
            "\($0.name): the children counted \($1.value), the deliveries \($0.value)"
        }
    }

    /// Reads the counters of everything and compares them.
    ///
    /// - Parameter wasRestored: the database was set back, so hosts have replayed journals of children that it does not know.
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

    /// The counters of all deliveries together.
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

    /// The counters of the children together, and whether these are all: the list ends with the last of those that have ended.
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
                if let isOver = await look(store, id, isThere: { deliveries().contains(id) }), isOver {
                    over.insert(id)
                }
            }
            let took = ContinuousClock.now - start
            try? await Task.sleep(for: max(Self.interval, took * Self.leisure))
        }
        await store.close()
    }

    /// Takes one snapshot.
    ///
    /// - Parameter isThere: whether the delivery ought to be there when it is not: a restore may have taken it away meanwhile.
    /// - Returns: Whether the delivery was over; `nil` if the database did not answer.
    @discardableResult
    func look(_ store: Store, _ id: Int64, isThere: () -> Bool = { true }) async -> Bool? {
        let snapshot: DeliverySnapshot
        do {
            snapshot = try await store.snapshot(delivery: id)
        } catch {
            if !Self.isAbsence(error), isThere() { note("delivery \(id) cannot be looked at: \(error)") }
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
        case .server, .type: return false
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
