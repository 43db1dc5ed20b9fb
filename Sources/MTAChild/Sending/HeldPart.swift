import PushCore
import Store

/// A part that this child holds a lease on, and how far its messages are.
struct HeldPart: Sendable {
    let claimed: ClaimedPart
    let delivery: CompiledDelivery
    let sequences: [Int32]
    let subscriptionIDs: [Int64]
    /// Messages that are neither decided nor handed to a retry.
    var open: Int
    /// What is not sent yet.
    var slices: ArraySlice<PreparedPart.Slice>
    /// Messages on the wire, or waiting in the gateway.
    var inGateway = 0
    /// Messages for retry parts, with the time before which they are not sent, in milliseconds on the database's clock.
    var retries: [PreparedPart.Soft]
    var resent: Int32
    /// The lease is lost: what the gateway answers is a fact, but nothing is decided any more.
    var isFenced = false
    /// The end of the part is in a batch for the database.
    var isClosing = false

    init(_ prepared: PreparedPart) {
        claimed = prepared.claimed
        delivery = prepared.delivery
        sequences = prepared.sequences
        subscriptionIDs = prepared.subscriptionIDs
        open = prepared.open - prepared.softAnswers.count
        slices = prepared.slices[...]
        retries = prepared.softAnswers
        resent = prepared.resent
    }

    var holding: PartToken { PartToken(part: claimed.id, token: claimed.fencingToken) }

    /// The retry parts to make at the part's end: messages with similar waiting times go together, each not before its time.
    func retrySets(now: Int64) -> [RetrySet] {
        var sets: [Int: RetrySet] = [:]
        for soft in retries {
            let delay = max(0, soft.notBeforeMilliseconds - now)
            // A set for each doubling of the waiting time: few parts, and nobody waits more than twice as long as needed.
            let bucket = delay == 0 ? 0 : 64 - delay.leadingZeroBitCount
            var set = sets.removeValue(forKey: bucket) ?? RetrySet(sequences: [], delayMilliseconds: 0)
            set.sequences.append(soft.sequence)
            set.delayMilliseconds = max(set.delayMilliseconds, delay)
            sets[bucket] = set
        }
        return sets.values.map { $0 }
    }

    /// What a next owner has to know of the messages that were answered softly.
    var recovery: PartRecovery {
        PartRecovery(
            softAnswers: retries.map { soft in
                PartRecovery.SoftAnswer(
                    sequence: soft.sequence,
                    attempt: claimed.attempt,
                    httpStatus: 0,
                    reason: "",
                    notBefore: DatabaseTime(microsecondsSince1970: soft.notBeforeMilliseconds * 1_000)
                )
            }
        )
    }
}
