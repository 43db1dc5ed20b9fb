import Administration
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
