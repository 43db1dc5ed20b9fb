import PushCore

/// The messages of a part in sequence order, one row each, column by column.
public struct LoadedPart: Sendable {
    /// Sequence numbers within the delivery, ascending.
    public var sequences: [Int32] = []
    /// Subscriptions, row by row.
    public var subscriptionIDs: [Int64] = []
    /// Push tokens, fresh at loading; null where the subscription is missing.
    public var tokens = ByteColumn()
    /// Tells the users apart, row by row: a hash of the user key; 0 for who has none.
    public var userHashes: [Int32] = []
    /// Whether a gateway has ever taken a message for the subscription, row by row; empty if it has for none.
    public var accepted: [Bool] = []
    /// Whether each may be sent.
    public var verdicts: [LoadVerdict] = []
    /// One column for each requested field, in the order of the request; null where no source has it.
    public var fields: [ByteColumn] = []
    /// Language tags of the subscriptions, null where the subscription is missing; empty unless they were asked for.
    public var locales = ByteColumn()
    /// Why the fields of a row could not be read, for the rows of which that is so; their fields are null.
    public var unreadable: [Int: String] = [:]

    /// A part without messages.
    public init() {}

    /// Number of messages.
    public var count: Int { sequences.count }
}
