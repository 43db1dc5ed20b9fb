import Gateways
import PushCore
import Store

/// A claimed part, loaded and rendered: ready to be marked and sent.
struct PreparedPart: Sendable {
    /// A message whose fate is known without sending it.
    struct Decided: Sendable {
        var row: Int32
        var status: MessageStatus
        var reason: String
    }

    /// A message that an earlier owner sent and that was answered softly.
    struct Soft: Sendable {
        var row: Int32
        var notBeforeMilliseconds: Int64
        /// How long it was to wait when that was decided, in milliseconds; it never waits longer, as the database's clock may
        /// have been set back since.
        var longestDelayMilliseconds = Int64.max
        /// Whether the attempt was the message's own: one that failed for the gateway's sake counts for nothing.
        var countsAttempt = true
    }

    /// Messages that are sent together: rows of the part, and the request batch in the same order.
    struct Slice: Sendable {
        var rows: [Int32]
        var batch: GatewayRequestBatch
        /// How many of the part's messages, in sequence order, may have left once this slice is sent.
        var markThrough: Int32
    }

    var claimed: ClaimedPart
    var delivery: CompiledDelivery
    var sequences: [Int32]
    var subscriptionIDs: [Int64]
    /// Messages without an outcome in the database.
    var open: Int
    var decided: [Decided] = []
    var softAnswers: [Soft] = []
    var slices: [Slice] = []
    /// Rows of messages that are to be sent although an earlier owner may have sent them.
    var lost: Set<Int32> = []
    /// Rows of messages that are to be sent although a send of the part before may have arrived.
    var doubted: Set<Int32> = []
    /// Rows of messages to subscriptions with soft errors.
    var withErrors: Set<Int32> = []
    /// Whether a gateway has ever taken a message for the subscription of each row; empty if it has for none.
    var accepted: [Bool] = []
    /// Tells the users of the rows apart, 0 for who has no key; empty if none has.
    var userHashes: [Int32] = []
    /// Rows among the soft answers to which an earlier owner got no answer.
    var unanswered: Set<Int32> = []
    /// Messages that are sent again although the gateway may have had them, those of a retry part not included.
    var resent: Int32 = 0

    /// Messages that have to be sent.
    var sendable: Int { slices.reduce(0) { $0 + $1.rows.count } }
}
