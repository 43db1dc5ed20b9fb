import PushCore

/// Messages with equal attributes, as columns of equal length; a message's index is its row.
public final class GatewayRequestBatch: Sendable {
    /// A number of the caller's, to find what the batch belongs to.
    public let id: Int64
    /// The push tokens.
    public let tokens: ByteColumn
    /// The message ids; APNs gets them as `apns-id`.
    public let messageIDs: [MessageUUID]
    /// The rendered bodies, without what the gateway adds itself.
    public let bodies: ByteColumn
    /// What all messages share.
    public let attributes: MessageAttributes
    /// A collapse id for each message, null for none; nil when ``attributes`` say all there is.
    public let collapseIDs: ByteColumn?
    /// Whether it goes before what waits for a stream, where the gateway has streams.
    public let isUrgent: Bool

    /// The number of messages.
    public var count: Int { tokens.count }

    /// About the memory that it holds.
    public var byteCount: Int {
        tokens.bytes.count + bodies.bytes.count + count
            * (MemoryLayout<MessageUUID>.stride + 2 * MemoryLayout<Int32>.stride)
    }

    /// Makes a batch.
    ///
    /// Columns of different lengths are a programming error.
    public init(
        id: Int64,
        tokens: ByteColumn,
        messageIDs: [MessageUUID],
        bodies: ByteColumn,
        attributes: MessageAttributes,
        collapseIDs: ByteColumn? = nil,
        isUrgent: Bool = false
    ) {
        precondition(
            messageIDs.count == tokens.count && bodies.count == tokens.count
                && (collapseIDs?.count ?? tokens.count) == tokens.count,
            "all columns of a batch have one row for each message"
        )
        self.id = id
        self.tokens = tokens
        self.messageIDs = messageIDs
        self.bodies = bodies
        self.attributes = attributes
        self.collapseIDs = collapseIDs
        self.isUrgent = isUrgent
    }
}
