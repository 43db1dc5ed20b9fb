import Administration
import LaboratoryStore
import PushCore
import Store
import Synchronization

/// A drill's reconciliation of all its deliveries, drawn up when everything has ended.
struct DrillReconciliation: Sendable {
    /// The maximum number of messages named in a result; `account.txt` has all.
    private static let maxNamed = 20

    /// The reconciliation of each delivery.
    private(set) var deliveries: [DeliveryAccount] = []
    /// Ids at the gateway that belong to no delivery.
    private(set) var strangers: [ReconciliationEntry] = []
    /// What campaigns did not keep to.
    private(set) var campaignFaults: [String] = []

    /// Reads and compares the gateway's record and the database.
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
        account.campaignFaults = CampaignAccount(try await site.campaignDeliveries(tallies)).faults
        return account
    }

    /// All named messages.
    var entries: [ReconciliationEntry] { deliveries.flatMap(\.entries) + strangers }
    /// Messages that are or were ambiguous.
    var ambiguous: Int { deliveries.reduce(0) { $0 + $1.ambiguous } }

    /// The number of messages of a kind.
    func count(_ kind: ReconciliationEntry.Kind) -> Int { entries.count { $0.kind == kind } }

    /// What is wrong, for a result; only the first messages are named. Duplicates alone are not wrong: they may be
    /// explained.
    var reasons: [String] {
        let wrong = entries.filter { $0.kind != .duplicate }
        var reasons = deliveries.flatMap(\.faults) + campaignFaults + wrong.prefix(Self.maxNamed).map(\.text)
        if wrong.count > Self.maxNamed { reasons.append("\(wrong.count - Self.maxNamed) more messages are wrong") }
        return reasons
    }

    /// What the gateway did with each message, by delivery. Ids that belong to no delivery become strangers.
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
                        what: "accepted, but it belongs to no delivery"
                    )
                )
            }
        }
        self.strangers = strangers
        return tallies
    }
}

/// The reconciliation of one delivery, message by message: the database against the gateway's record.
struct DeliveryAccount: Sendable {
    /// The named messages.
    private(set) var entries: [ReconciliationEntry] = []
    /// Messages that are or were ambiguous.
    let ambiguous: Int
    /// What else is wrong.
    private(set) var faults: [String] = []

    private let delivery: DrillDelivery
    private let codec: MessageIDCodec
    private let ambiguousMessages: Set<Int32>
    private let sentAgain: Set<Int32>
    private let acceptedAndCanceled: Set<Int32>

    /// Draws up the reconciliation.
    ///
    /// - Parameters:
    ///   - outcomes: Each message's outcome in the database.
    ///   - ambiguous: The messages that the database records as ever ambiguous.
    ///   - tallies: What the gateway did with each message.
    ///   - sentAgain: Messages that may have duplicates without being ambiguous (``DrillExceptions``).
    ///   - acceptedAndCanceled: Messages that may be recorded as canceled although they were accepted.
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
                add(.unexplained, outcome.sequence, "it is in the database twice")
            }
        }
        for sequence in tallies.keys.sorted() where !seen.contains(sequence) {
            add(.unexplained, sequence, "the gateway has it, but the database does not")
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
        // The database's own counts also agree if subscribers were skipped. Only a stop or a recall ends a preparation
        // early. Whom a campaign may leave out is the matter of its own account.
        let left = delivery.campaign == nil ? 0 : progress.excluded
        if ![.stopped, .recalled].contains(progress.state), progress.target + left != delivery.messages {
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
            if tally.accepted == 0 { add(.lost, outcome.sequence, "recorded as sent, but never accepted") }
        case .pending:
            add(.lost, outcome.sequence, "without an outcome, accepted \(tally.accepted) times")
        case .unknown:
            if !isAmbiguous {
                add(.unexplained, outcome.sequence, "recorded as unknown, but it was never ambiguous")
            } else if delivery.policy == .resend, !delivery.allows.contains(.unknown) {
                add(.unexplained, outcome.sequence, "recorded as unknown, although its policy is resend")
            }
        case .failed, .ignored, .canceled, .notApplicable: judgeEnd(outcome, tally, isAmbiguous)
        }
    }

    /// Judges a message that ended without being sent: no gateway may have accepted it, and the delivery must allow the
    /// status.
    private mutating func judgeEnd(_ outcome: MessageOutcome, _ tally: GatewayTally, _ isAmbiguous: Bool) {
        let words = "recorded as \(outcome.status.name) (\(outcome.reason))"
        if tally.accepted > 0, outcome.status == .canceled, acceptedAndCanceled.contains(outcome.sequence) { return }
        if tally.accepted > 0 {
            add(.unexplained, outcome.sequence, words + ", but accepted")
        } else if !delivery.allows.contains(outcome.status) {
            add(.lost, outcome.sequence, words + ", but it should have been sent")
        } else if outcome.status == .failed, tally.others == 0, !isAmbiguous {
            add(.unexplained, outcome.sequence, words + ", but the gateway never saw it")
        }
    }

    private mutating func judgeDuplicate(_ outcome: MessageOutcome, _ tally: GatewayTally, _ isAmbiguous: Bool) {
        let words = "accepted \(tally.accepted) times, from \(tally.first) to \(tally.last), attempt \(outcome.attempt)"
        add(.duplicate, outcome.sequence, words)
        if sentAgain.contains(outcome.sequence) { return }
        if delivery.policy == .report {
            add(.unexplained, outcome.sequence, words + ", although its policy is report")
        } else if !isAmbiguous {
            add(.unexplained, outcome.sequence, words + ", although it was never ambiguous")
        }
    }

    private mutating func add(_ kind: ReconciliationEntry.Kind, _ sequence: Int32, _ what: String) {
        let id = codec.uuid(sequence: sequence).description
        entries.append(ReconciliationEntry(kind: kind, delivery: delivery.id, sequence: sequence, id: id, what: what))
    }
}

/// Deviations that a drill caused on purpose and checks itself. The reconciliation does not report them.
struct DrillExceptions: Sendable {
    /// Messages that were sent again without being ambiguous, by delivery. The database was restored to a moment before
    /// their outcome.
    var sentAgain: [Int64: Set<Int32>] = [:]
    /// Messages that were accepted but are recorded as canceled, by delivery, for the same reason.
    var acceptedAndCanceled: [Int64: Set<Int32>] = [:]
    /// The codecs of deliveries that no longer exist in the database.
    var forgotten: [MessageIDCodec] = []

    init() {}
}

/// A message that is named in the reconciliation.
struct ReconciliationEntry: Sendable, Equatable {
    /// What is wrong with the message.
    enum Kind: String, Sendable, CaseIterable {
        /// Recorded as sent but never accepted, without an outcome, or with a status that the drill does not allow.
        case lost
        /// Accepted more than once.
        case duplicate
        /// Database and gateway disagree in another way.
        case unexplained
    }

    let kind: Kind
    let delivery: Int64
    /// The message's sequence number; `nil` if the gateway's id belongs to no message.
    let sequence: Int32?
    /// The id at the gateway.
    let id: String
    let what: String

    /// The entry as one line.
    var text: String {
        "\(kind.rawValue): message \(sequence.map { String($0) } ?? "-") of delivery \(delivery) (\(id)): \(what)"
    }
}

/// What a gateway did with one message.
struct GatewayTally: Sendable, Equatable {
    /// How often the gateway accepted the message.
    var accepted = 0
    /// How often the gateway gave another answer, or none.
    var others = 0
    /// When the gateway first and last received the message, in seconds since 1970.
    var first = 0.0
    var last = 0.0

    init() {}

    mutating func add(_ line: GatewayRecordLine) {
        if accepted + others == 0 { first = line.time }
        last = line.time
        if line.isAccepted { accepted += 1 } else { others += 1 }
    }
}
