import PushCore

/// A part that ends with this batch: each of its messages has a final outcome or goes into a retry part.
package struct ClosingPart: Sendable {
    /// The part and the owner's token.
    package var claim: PartToken
    /// The messages that go into retry parts. Those that got an outcome meanwhile are left out.
    package var retries: [RetrySet]
    /// Messages that were sent again although the gateway may have received them.
    package var resentAfterAmbiguity: Int32
    /// Messages whose last send may have reached the gateway without an answer, and that a retry part sends again; they
    /// are recorded. For a part that ends with `restStatus`, its owner gives them the outcome `unknown` instead.
    package var ambiguous: [Int32]
    /// The outcome of all messages that have no row of their own: a stopped or expired part writes rows only for its
    /// ambiguous messages, as `unknown`. Such a part has no retries.
    package var restStatus: MessageStatus?
    /// The reason of `restStatus`.
    package var restReason: String

    /// The end of a part.
    package init(
        part: Int64,
        token: Int64,
        retries: [RetrySet] = [],
        resentAfterAmbiguity: Int32 = 0,
        ambiguous: [Int32] = [],
        restStatus: MessageStatus? = nil,
        restReason: String = ""
    ) {
        claim = PartToken(part: part, token: token)
        self.retries = retries
        self.resentAfterAmbiguity = resentAfterAmbiguity
        self.ambiguous = ambiguous
        self.restStatus = restStatus
        self.restReason = restReason
    }

    /// Whether anything goes into retry parts.
    var hasRetries: Bool {
        restStatus == nil && retries.contains { !$0.sequences.isEmpty }
    }
}
