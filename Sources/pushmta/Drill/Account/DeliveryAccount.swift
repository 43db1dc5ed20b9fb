import PushCore
import Store

/// The account of one delivery, message by message: what the database says against what the gateway has.
struct DeliveryAccount: Sendable {
    /// What stands in the account.
    private(set) var entries: [AccountEntry] = []
    /// Messages that are or were ambiguous.
    let ambiguous: Int
    /// Further things that are wrong.
    private(set) var faults: [String] = []

    private let delivery: DrillDelivery
    private let codec: MessageIDCodec
    private let ambiguousMessages: Set<Int32>

    /// Draws up the account.
    ///
    /// - Parameters:
    ///   - outcomes: What the database says of each message.
    ///   - ambiguous: The messages of which it says that they may have been sent without a known answer.
    ///   - tallies: What the gateway did, by message.
    init(
        _ delivery: DrillDelivery,
        codec: MessageIDCodec,
        progress: DeliveryProgress,
        outcomes: [MessageOutcome],
        ambiguous: Set<Int32>,
        tallies: [Int32: GatewayTally]
    ) {
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
    func count(_ kind: AccountEntry.Kind) -> Int { entries.count { $0.kind == kind } }

    private mutating func check(_ progress: DeliveryProgress, _ messages: Int64) {
        let name = "delivery \(delivery.id)"
        if progress.target != messages {
            faults.append("\(name) has \(messages) messages, its target is \(progress.target)")
        }
        // What the database says of itself agrees also when subscribers were skipped. Only a stop may end a preparation early.
        if progress.state != .stopped, progress.target != delivery.messages {
            faults.append("\(name) has target \(progress.target), its audience has \(delivery.messages)")
        }
        if progress.resentAfterAmbiguity < Int64(count(.duplicate)) {
            faults.append(
                "\(name) has \(count(.duplicate)) duplicates, but resent_after_ambiguity is \(progress.resentAfterAmbiguity)"
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
            } else if delivery.policy == .resend {
                add(.unexplained, outcome.sequence, "on record as unknown, though its policy is resend")
            }
        case .failed, .ignored, .canceled, .notApplicable: judgeEnd(outcome, tally, isAmbiguous)
        }
    }

    /// A message that is not on record as sent, and never will be: nobody's device may have it, and somebody must have wanted it.
    private mutating func judgeEnd(_ outcome: MessageOutcome, _ tally: GatewayTally, _ isAmbiguous: Bool) {
        let words = "on record as \(outcome.status.name) (\(outcome.reason))"
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
        if delivery.policy == .report {
            add(.unexplained, outcome.sequence, words + ", though its policy is report")
        } else if !isAmbiguous {
            add(.unexplained, outcome.sequence, words + ", though it was never ambiguous")
        }
    }

    private mutating func add(_ kind: AccountEntry.Kind, _ sequence: Int32, _ finding: String) {
        let id = codec.uuid(sequence: sequence).description
        entries.append(AccountEntry(kind: kind, delivery: delivery.id, sequence: sequence, id: id, finding: finding))
    }
}
