import Store

/// The account of a drill: all its deliveries, drawn up when everything has ended.
struct DrillAccount: Sendable {
    /// So many messages are named in a result; the file has all.
    private static let mostNamed = 20

    /// The accounts of the deliveries.
    private(set) var deliveries: [DeliveryAccount] = []
    /// Ids at the gateway that belong to no delivery.
    private(set) var strangers: [AccountEntry] = []

    /// Reads record and database.
    static func draw(_ site: DrillSite) async throws -> DrillAccount {
        let store = try site.store()
        var account = DrillAccount()
        let tallies = try await account.tallies(site)
        let deliveries = site.deliveries
        let resolver = try await MessageResolver(deliveries, store: store)
        for (delivery, codec) in zip(deliveries, resolver.codecs) {
            account.deliveries.append(
                DeliveryAccount(
                    delivery,
                    codec: codec,
                    progress: try await store.deliveryProgress(delivery.id),
                    outcomes: try await store.outcomeRows(delivery: delivery.id),
                    ambiguous: try await store.ambiguousMessages(delivery: delivery.id),
                    tallies: tallies[delivery.id] ?? [:]
                )
            )
        }
        return account
    }

    /// Everything that is named.
    var entries: [AccountEntry] { deliveries.flatMap(\.entries) + strangers }
    /// Messages that are or were ambiguous.
    var ambiguous: Int { deliveries.reduce(0) { $0 + $1.ambiguous } }

    /// The number of messages of a kind.
    func count(_ kind: AccountEntry.Kind) -> Int { entries.count { $0.kind == kind } }

    /// What is wrong, for a result: the first messages by name. Duplicates alone are not: they may be explained.
    var reasons: [String] {
        let wrong = entries.filter { $0.kind != .duplicate }
        var reasons = deliveries.flatMap(\.faults) + wrong.prefix(Self.mostNamed).map(\.text)
        if wrong.count > Self.mostNamed { reasons.append("\(wrong.count - Self.mostNamed) more messages are wrong") }
        return reasons
    }

    /// What the gateway did with each message, by delivery; ids that no delivery made are strangers.
    private mutating func tallies(_ site: DrillSite) async throws -> [Int64: [Int32: GatewayTally]] {
        var tallies: [Int64: [Int32: GatewayTally]] = [:]
        var strangers: [AccountEntry] = []
        try await site.pushes { line, message in
            if let message {
                tallies[message.delivery, default: [:]][message.sequence, default: GatewayTally()].add(line)
            } else if line.isAccepted {
                strangers.append(
                    AccountEntry(
                        kind: .unexplained,
                        delivery: 0,
                        sequence: nil,
                        id: line.id,
                        finding: "accepted, but of no delivery"
                    )
                )
            }
        }
        self.strangers = strangers
        return tallies
    }
}
