import Gateways
import PushCore
import Store

extension SendDesk {
    enum Event: Sendable {
        case prepared(PreparedPart)
        /// The database has committed marks; `held` are the parts that still carry this child's token.
        case marked([PartMark], held: Set<Int64>)
        /// The database could not be asked for marks.
        case markFailed
        case settled(batchID: Int64, outcomes: [Outcome])
        /// The pause before unprocessed messages are sent again is over.
        case resendDue(batchID: Int64)
        /// A batch is in the database; `holdings` are the parts, with their tokens, that it was about.
        case stored(StoreReport, holdings: Set<PartToken>, windowRows: Int)
        /// The database says that these parts carry another token.
        case leasesLost(Set<PartToken>)
        /// The right to send has been renewed, or has run out on this host's clock.
        case leaseValid(Bool)
        /// Sending stops for a while, or goes on.
        case paused(Bool)
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
        case cutJournal
        /// There is room for another part.
        case claimMore
    }

    /// A request batch in the gateway.
    struct Flight: Sendable {
        var holding: PartToken
        var rows: [Int32]
        var batch: GatewayRequestBatch
        /// Messages without a decision.
        var open: Int
        /// Batch indexes that wait to be sent again for free.
        var resend: [Int32] = []
        /// How often messages of this batch have been handed over.
        var attempt = 1
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
