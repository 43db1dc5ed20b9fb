import PushCore

/// A part that ends with this batch: all its messages have a final outcome or are handed to retry parts.
public struct ClosingPart: Sendable {
    /// The part and the owner's token.
    public var holding: PartToken
    /// What goes into retry parts. Messages that got an outcome meanwhile are left out.
    public var retries: [RetrySet]
    /// Messages that were sent again although the gateway may have had them.
    public var resentAfterAmbiguity: Int32
    /// Messages whose last send may have reached the gateway without an answer, and which a retry part sends again: kept on
    /// record. Those of a part that ends with `restStatus` get the outcome `unknown` from whoever holds it instead.
    public var ambiguous: [Int32]
    /// The outcome of all messages that have no row of their own: a stopped or expired part writes none for them, except
    /// `unknown` for those that are on record as ambiguous. Then there are no retries.
    public var restStatus: MessageStatus?
    /// Why, for `restStatus`.
    public var restReason: String

    /// The end of a part.
    public init(
        part: Int64,
        token: Int64,
        retries: [RetrySet] = [],
        resentAfterAmbiguity: Int32 = 0,
        ambiguous: [Int32] = [],
        restStatus: MessageStatus? = nil,
        restReason: String = ""
    ) {
        holding = PartToken(part: part, token: token)
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
