import PushCore

/// A part that ends with this batch: all its messages have a final outcome or are handed to retry parts.
public struct ClosingPart: Sendable {
    /// The part and the owner's token.
    public var holding: PartToken
    /// What goes into retry parts. Messages that got an outcome meanwhile are left out.
    public var retries: [RetrySet]
    /// Messages that were sent again although the gateway may have had them.
    public var resentAfterAmbiguity: Int32
    /// The outcome of all messages that have no row of their own: a stopped or expired part writes none for them. Then
    /// there are no retries.
    public var restStatus: MessageStatus?
    /// Why, for `restStatus`.
    public var restReason: String

    /// The end of a part.
    public init(
        part: Int64,
        token: Int64,
        retries: [RetrySet] = [],
        resentAfterAmbiguity: Int32 = 0,
        restStatus: MessageStatus? = nil,
        restReason: String = ""
    ) {
        holding = PartToken(part: part, token: token)
        self.retries = retries
        self.resentAfterAmbiguity = resentAfterAmbiguity
        self.restStatus = restStatus
        self.restReason = restReason
    }

    /// Whether anything goes into retry parts.
    var hasRetries: Bool {
        restStatus == nil && retries.contains { !$0.sequences.isEmpty }
    }
}
