import Gateways
import PushCore
import Store

/// A claimed part, loaded and rendered: ready to be marked and sent.
struct PreparedPart: Sendable {
    /// A message whose outcome is known without sending it.
    struct Decided: Sendable {
        var row: Int32
        var status: MessageStatus
        var reason: String
    }

    /// A message that an earlier owner sent and that got a soft answer.
    struct Soft: Sendable {
        var row: Int32
        var notBeforeMilliseconds: Int64
        /// The wait that was decided, in milliseconds. The message never waits longer, because the database's clock may
        /// have been set back since.
        var maxDelayMilliseconds = Int64.max
        /// The result of the attempt.
        var kind = Kind.attempt

        /// Whether the attempt counts; one that failed because of the gateway does not.
        var countsAttempt: Bool { kind == .attempt }

        /// Why a message goes to a retry part.
        enum Kind: Sendable, Hashable {
            /// Its attempt counts.
            case attempt
            /// It was refused because of the gateway, as far as known. If another message was accepted at this moment
            /// of the owner's monotonic clock or later, the fault is its own. Otherwise it counts unless many others
            /// were refused, too.
            case refused(since: Duration, isLone: Bool)
            /// A credential stored with the gateway is wrong, as this reason says: the message waits apart until it is
            /// corrected.
            case apart(reason: String)
        }
    }

    /// Messages that are sent together: their rows in the part, and the request batch in the same order.
    struct Slice: Sendable {
        var rows: [Int32]
        var batch: GatewayRequestBatch
        /// How many of the part's messages, in sequence order, may have left once this slice was sent.
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
    /// Rows of messages to send although an earlier owner may have sent them.
    var lost: Set<Int32> = []
    /// Rows of messages to send although the previous part's attempt may have arrived.
    var ambiguousRows: Set<Int32> = []
    /// Rows of messages to subscriptions with soft errors.
    var withErrors: Set<Int32> = []
    /// Whether a gateway has ever accepted a message for each row's subscription; empty if for none.
    var accepted: [Bool] = []
    /// Distinguishes the rows' users; 0 for a user without a key, empty if no user has one.
    var userHashes: [Int32] = []
    /// Rows with a soft answer that an earlier owner also sent without getting an answer.
    var unanswered: Set<Int32> = []
    /// The number of messages resent although the gateway may have received them, except those of a retry part.
    var resent: Int32 = 0

    /// The number of messages to send.
    var sendable: Int { slices.messageCount }
}

extension Collection<PreparedPart.Slice> {
    /// The number of messages in all slices.
    var messageCount: Int { reduce(0) { $0 + $1.rows.count } }
    /// The approximate memory that their batches hold, in bytes.
    var byteCount: Int { reduce(0) { $0 + $1.batch.byteCount } }
}
