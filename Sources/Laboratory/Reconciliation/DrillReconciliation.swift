import Administration
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// The account of a drill: all its deliveries, drawn up when everything has ended.
struct DrillReconciliation: Sendable {
    /// So many messages are named in a result; the file has all.
    private static let mostNamed = 20

    /// The accounts of the deliveries.
    private(set) var deliveries: [DeliveryAccount] = []
    /// Ids at the gateway that belong to no delivery.
    private(set) var strangers: [ReconciliationEntry] = []

    /// Reads record and database.
    static func draw(_ site: DrillSite) async throws -> DrillReconciliation {
        let store = try site.store()
        var account = DrillReconciliation()
        let exceptions = site.state.withLock { $0.exceptions }
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
                    tallies: tallies[delivery.id] ?? [:],
                    sentAgain: exceptions.sentAgain[delivery.id] ?? [],
                    acceptedAndCanceled: exceptions.acceptedAndCanceled[delivery.id] ?? []
                )
            )
        }
        return account
    }

    /// Everything that is named.
    var entries: [ReconciliationEntry] { deliveries.flatMap(\.entries) + strangers }
    /// Messages that are or were ambiguous.
    var ambiguous: Int { deliveries.reduce(0) { $0 + $1.ambiguous } }

    /// The number of messages of a kind.
    func count(_ kind: ReconciliationEntry.Kind) -> Int { entries.count { $0.kind == kind } }

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
        var strangers: [ReconciliationEntry] = []
        let forgotten = site.state.withLock { $0.exceptions.forgotten }
        try await site.pushes { line, message in
            if let message {
                tallies[message.delivery, default: [:]][message.sequence, default: GatewayTally()].add(line)
            } else if line.isAccepted, !forgotten.contains(where: { MessageUUID(line.id).flatMap($0.sequence) != nil })
            {
                strangers.append(
                    ReconciliationEntry(
                        kind: .unexplained,
                        delivery: 0,
                        sequence: nil,
                        id: line.id,
                        what: "accepted, but of no delivery"
                    )
                )
            }
        }
        self.strangers = strangers
        return tallies
    }
}

/// The account of one delivery, message by message: what the database says against what the gateway has.
struct DeliveryAccount: Sendable {
    /// What stands in the account.
    private(set) var entries: [ReconciliationEntry] = []
    /// Messages that are or were ambiguous.
    let ambiguous: Int
    /// Further things that are wrong.
    private(set) var faults: [String] = []

    private let delivery: DrillDelivery
    private let codec: MessageIDCodec
    private let ambiguousMessages: Set<Int32>
    private let sentAgain: Set<Int32>
    private let acceptedAndCanceled: Set<Int32>

    /// Draws up the account.
    ///
    /// - Parameters:
    ///   - outcomes: What the database says of each message.
    ///   - ambiguous: The messages of which it says that they may have been sent without a known answer.
    ///   - tallies: What the gateway did, by message.
    ///   - sentAgain: Messages whose duplicates need no ambiguity (``DrillExceptions``).
    ///   - acceptedAndCanceled: Messages that may be on record as canceled though they were accepted.
    init(
        _ delivery: DrillDelivery,
        codec: MessageIDCodec,
        progress: DeliveryProgress,
        outcomes: [MessageOutcome],
        ambiguous: Set<Int32>,
        tallies: [Int32: GatewayTally],
        sentAgain: Set<Int32> = [],
        acceptedAndCanceled: Set<Int32> = []
    ) {
        self.sentAgain = sentAgain
        self.acceptedAndCanceled = acceptedAndCanceled
        self.delivery = delivery
        self.codec = codec
        self.ambiguous = ambiguous.count
        ambiguousMessages = ambiguous
        var seen: Set<Int32> = []
        for outcome in outcomes {
            judge(outcome, tallies[outcome.sequence] ?? GatewayTally())
            if !seen.insert(outcome.sequence).inserted {
                add(.unexplained, outcome.sequence, "it stands in the database twice")
            }
        }
        for sequence in tallies.keys.sorted() where !seen.contains(sequence) {
            add(.unexplained, sequence, "the gateway has it, the database knows no such message")
        }
        check(progress, Int64(seen.count))
    }

    /// The number of messages of a kind.
    func count(_ kind: ReconciliationEntry.Kind) -> Int { entries.count { $0.kind == kind } }

    private mutating func check(_ progress: DeliveryProgress, _ messages: Int64) {
        let name = "delivery \(delivery.id)"
        if progress.target != messages {
            faults.append("\(name) has \(messages) messages, its target is \(progress.target)")
        }
        // What the database says of itself agrees also when subscribers were skipped. Only a stop may end a preparation early.
        if progress.state != .stopped, progress.target != delivery.messages {
            faults.append("\(name) has target \(progress.target), its audience has \(delivery.messages)")
        }
        let duplicates = count(.duplicate) - sentAgain.subtracting(ambiguousMessages).count
        if progress.resentAfterAmbiguity < Int64(duplicates) {
            faults.append(
                "\(name) has \(duplicates) duplicates, but resent_after_ambiguity is \(progress.resentAfterAmbiguity)"
            )
        }
        if delivery.policy == .report, progress.resentAfterAmbiguity > 0 {
            faults.append("\(name) has policy report, but resent_after_ambiguity is \(progress.resentAfterAmbiguity)")
        }
    }

    private mutating func judge(_ outcome: MessageOutcome, _ tally: GatewayTally) {
        let isAmbiguous = ambiguousMessages.contains(outcome.sequence)
        if tally.accepted > 1 { judgeDuplicate(outcome, tally, isAmbiguous) }
        switch outcome.status {
        case .sent:
            if tally.accepted == 0 { add(.lost, outcome.sequence, "on record as sent, never accepted") }
        case .pending:
            add(.lost, outcome.sequence, "without an outcome, accepted \(tally.accepted) times")
        case .unknown:
            if !isAmbiguous {
                add(.unexplained, outcome.sequence, "on record as unknown, but it was never ambiguous")
            } else if delivery.policy == .resend, !delivery.allows.contains(.unknown) {
                add(.unexplained, outcome.sequence, "on record as unknown, though its policy is resend")
            }
        case .failed, .ignored, .canceled, .notApplicable: judgeEnd(outcome, tally, isAmbiguous)
        }
    }

    /// A message that is not on record as sent, and never will be: nobody's device may have it, and somebody must have wanted it.
    private mutating func judgeEnd(_ outcome: MessageOutcome, _ tally: GatewayTally, _ isAmbiguous: Bool) {
        let words = "on record as \(outcome.status.name) (\(outcome.reason))"
        if tally.accepted > 0, outcome.status == .canceled, acceptedAndCanceled.contains(outcome.sequence) { return }
        if tally.accepted > 0 {
            add(.unexplained, outcome.sequence, words + ", but accepted")
        } else if !delivery.allows.contains(outcome.status) {
            add(.lost, outcome.sequence, words + ", but it was to be sent")
        } else if outcome.status == .failed, tally.others == 0, !isAmbiguous {
            add(.unexplained, outcome.sequence, words + ", but the gateway never saw it")
        }
    }

    private mutating func judgeDuplicate(_ outcome: MessageOutcome, _ tally: GatewayTally, _ isAmbiguous: Bool) {
        let words = "accepted \(tally.accepted) times, from \(tally.first) to \(tally.last), attempt \(outcome.attempt)"
        add(.duplicate, outcome.sequence, words)
        if sentAgain.contains(outcome.sequence) { return }
        if delivery.policy == .report {
            add(.unexplained, outcome.sequence, words + ", though its policy is report")
        } else if !isAmbiguous {
            add(.unexplained, outcome.sequence, words + ", though it was never ambiguous")
        }
    }

    private mutating func add(_ kind: ReconciliationEntry.Kind, _ sequence: Int32, _ what: String) {
        let id = codec.uuid(sequence: sequence).description
        entries.append(ReconciliationEntry(kind: kind, delivery: delivery.id, sequence: sequence, id: id, what: what))
    }
}

/// What a drill has made happen to messages on purpose, and has looked at itself: the account finds nothing wrong with it.
struct DrillExceptions: Sendable {
    /// Messages that were sent again without being ambiguous, by delivery: the database was set back to before their outcome.
    var sentAgain: [Int64: Set<Int32>] = [:]
    /// Messages that were accepted and are on record as canceled, by delivery, for the same reason.
    var acceptedAndCanceled: [Int64: Set<Int32>] = [:]
    /// The ids of deliveries that are in no database any more.
    var forgotten: [MessageIDCodec] = []

    init() {}
}

/// A message that is named in the account.
struct ReconciliationEntry: Sendable, Equatable {
    /// What is the matter with it.
    enum Kind: String, Sendable, CaseIterable {
        /// On record as sent, never accepted; without an outcome; or ended otherwise, which nobody wanted.
        case lost
        /// Accepted more than once.
        case duplicate
        /// Record and fate disagree.
        case unexplained
    }

    let kind: Kind
    let delivery: Int64
    /// The message; `nil`: the gateway's id belongs to no message.
    let sequence: Int32?
    /// The id at the gateway.
    let id: String
    let what: String

    /// In one line.
    var text: String {
        "\(kind.rawValue): message \(sequence.map { String($0) } ?? "-") of delivery \(delivery) (\(id)): \(what)"
    }
}

/// What a gateway did with one message.
struct GatewayTally: Sendable, Equatable {
    /// How often it accepted it.
    var accepted = 0
    /// How often it gave another answer, or none.
    var others = 0
    /// When it saw it first and last, seconds since 1970.
    var first = 0.0
    var last = 0.0

    init() {}

    mutating func add(_ line: GatewayRecordLine) {
        if accepted + others == 0 { first = line.time }
        last = line.time
        if line.isAccepted { accepted += 1 } else { others += 1 }
    }
}
