import Gateways
import PushCore
import Store

extension SendDesk {
    enum Event: Sendable {
        case prepared(PreparedPart)
        /// A claimed part that cannot be prepared goes back as it came.
        case refused(PartToken)
        /// A claimed part whose messages cannot be read now goes back, and waits there.
        case unloaded(PartToken, reason: String)
        /// The database has a part back.
        case released(PartToken)
        /// The database has committed marks; `held` are the parts that still carry this child's token.
        case marked([PartMark], held: Set<Int64>)
        /// The database could not be asked for marks.
        case markFailed
        case settled(batchID: Int64, outcomes: [Outcome])
        /// The pause before unsent messages of a batch are sent again is over.
        case resendDue(batchID: Int64)
        /// A batch is in the database, each in the order in which it was taken; `holdings` are the parts, with their
        /// tokens, that it was about.
        case stored(StoreReport, holdings: Set<PartToken>, windowRows: Int)
        /// The database says that these parts carry another token.
        case leasesLost(Set<PartToken>)
        /// The right to send has been renewed, or has run out on this host's clock.
        case leaseValid(Bool)
        /// The way to the gateway has failed: no connection came about, or one was lost.
        case gatewayFailed(String)
        /// A connection came about to a gateway that takes messages in silence.
        case gatewayReached
        /// What the database says of the gateway's trouble.
        case troubleSeen(TroubleSeen)
        /// One message may leave, to find out whether the gateway takes messages again; this child is the one that tries.
        case probe
        /// The states of deliveries, as the database has them now.
        case deliveryStates([Int64: DeliveryState])
        /// Every message of the application would be refused.
        case applicationStopped
        /// Somebody has opened the application's circuit.
        case circuitFoundOpen
        /// Give everything back that is not on the wire.
        case hurry
        /// The journal has grown so long that it should be cut.
        case journalLong
        case journalCut
    }

    enum Action: Sendable {
        case mark([PartMark])
        case journal([UInt8])
        case submit(GatewayRequestBatch)
        case resendLater(batchID: Int64, attempt: Int)
        /// Outcomes are there to be stored: now, because the batch is full, or within the batch delay.
        case store(isFull: Bool)
        case cancelQueued
        case release(PartToken, PartRecovery)
        /// Give a part back whose push tokens were refused, to be judged by itself; with a reason it waits, and others pass it.
        case putAside(PartToken, PartRecovery, reason: String?)
        /// Give a part back as it came; nobody gets it before a pause, which the database sets.
        case postpone(PartToken, reason: String)
        case cutJournal
        /// The journal cannot be cut soon: ask again when it has grown further.
        case cutJournalLater
        /// There is room for another part.
        case claimMore
        /// The gateway takes nothing, and it is its own fault: nothing is sent but probes, after what the gateway asked for.
        case enterTrouble(reason: String, notBefore: Duration?)
        /// A probe was answered as one of the gateway's: sending begins again.
        case troubleOver
        /// Every message of the application would be refused, for a reason that is not the messages'.
        case openCircuit(reason: String, holdsTokenEffects: Bool)
        /// A probe got through.
        case closeCircuit
        /// Every message of the delivery would be refused, for a reason that is the delivery's own.
        case holdDelivery(Int64, reason: String)
    }

    /// A request batch in the gateway.
    struct Flight: Sendable {
        var holding: PartToken
        var rows: [Int32]
        var batch: GatewayRequestBatch
        /// Messages without a decision.
        var open: Int
        /// What has got streams, by batch index; it comes in order, so this is one range nearly always.
        var departed: [Range<Int32>] = []
        /// Batch indexes that the gateway did not process: they go out again as the next attempt.
        var resend: [Int32] = []
        /// Batch indexes that never left, or were refused for the application's sake: they go out again as if for the
        /// first time.
        var unsent: [Int32] = []
        /// How often messages of this batch have been handed over.
        var attempt = 1
        /// The pause before what is to be sent again has begun.
        var hasPause = false

        var waiting: Int { resend.count + unsent.count }

        /// Whether the topic is that of a push type with push tokens of its own.
        var hasSuffixedTopic: Bool { !batch.attributes.topicSuffix.isEmpty }

        func hasDeparted(_ index: Int32) -> Bool { departed.contains { $0.contains(index) } }

        mutating func depart(_ range: Range<Int32>) {
            if let last = departed.last, last.upperBound == range.lowerBound {
                departed[departed.count - 1] = last.lowerBound..<range.upperBound
            } else {
                departed.append(range)
            }
        }
    }

    /// Why nothing more of a delivery leaves, and how its parts end.
    enum Halt: Sendable, Equatable {
        /// Another owner goes on later.
        case giveBack
        /// What has no outcome gets this one.
        case close(MessageStatus, reason: String)
    }

    /// What is known of the application's circuit.
    enum Circuit: Sendable, Equatable {
        case closed
        /// This child tries one message after the other.
        case probing
        case open
    }

    /// Ascending sequence numbers as ranges.
    static func ranges(_ sequences: some Sequence<Int32>) -> [ClosedRange<Int32>] {
        var ranges: [ClosedRange<Int32>] = []
        for sequence in sequences {
            if let last = ranges.last, last.upperBound &+ 1 == sequence {
                ranges[ranges.count - 1] = last.lowerBound...sequence
            } else {
                ranges.append(sequence...sequence)
            }
        }
        return ranges
    }
}
