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

    /// Reads the counters of everything and compares them.
    static func faults(_ store: Store) async throws -> [String] {
        var deliveries = Counters()
        for progress in try await store.deliveries(limit: 10_000) {
            deliveries.unknown += progress.unknown
            deliveries.resent += progress.resentAfterAmbiguity
            deliveries.late += progress.lateOutcomes
            deliveries.replayed += progress.journalReplayed
        }
        var children = Counters()
        let overviews = try await store.children(includeExited: true)
        for child in overviews {
            children.unknown += child.beat.unknown
            children.resent += child.beat.resentAfterAmbiguity
            children.late += child.beat.lateOutcomes
            children.replayed += child.journalReplayed
        }
        var hosts = Counters()
        for host in try await store.hosts() {
            hosts.unknown += host.unknown
            hosts.resent += host.resentAfterAmbiguity
            hosts.late += host.lateOutcomes
            hosts.replayed += host.report.journalReplayed
        }
        // The list of children ends with the last ones of those that have exited.
        let hasAll = overviews.count < Self.listedChildren
        return faults(deliveries: deliveries, children: children, hosts: hasAll ? hosts : nil)
    }
}
