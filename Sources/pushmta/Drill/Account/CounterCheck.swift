import Store

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
    /// A child tells its counters with its beats, so one that was killed may have told less than the deliveries know; more is
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
    static func faults(_ store: Store) async throws -> [String] {
        let (children, hasAll) = try await children(store)
        var hosts = Counters()
        for host in try await store.hosts() {
            hosts.unknown += host.unknown
            hosts.resent += host.resentAfterAmbiguity
            hosts.late += host.lateOutcomes
            hosts.replayed += host.report.journalReplayed
        }
        return faults(deliveries: try await deliveries(store), children: children, hosts: hasAll ? hosts : nil)
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
            children.unknown += child.beat.unknown
            children.resent += child.beat.resentAfterAmbiguity
            children.late += child.beat.lateOutcomes
            children.replayed += child.journalReplayed
        }
        return (children, overviews.count < Self.listedChildren)
    }
}
