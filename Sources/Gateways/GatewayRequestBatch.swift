import PushCore
import Synchronization

/// Messages with equal attributes, as columns of equal length; a message's index is its row.
package final class GatewayRequestBatch: Sendable {
    /// The caller's own number for the batch.
    package let id: Int64
    /// The message ids; APNs gets them as `apns-id`.
    package let messageIDs: [MessageUUID]
    /// The attributes that all messages share.
    package let attributes: MessageAttributes
    /// Whether it overtakes messages that wait for a stream, if the gateway has streams.
    package let isUrgent: Bool
    /// The delivery that the messages belong to; 0 if not needed.
    package let deliveryID: Int64
    /// When its messages became due, in milliseconds since 1970 on the database's clock; 0 if not measured.
    package let dueMilliseconds: Int64

    private let content: Mutex<Content>

    /// What is specific to each message and needed only until it was sent for the last time.
    private struct Content {
        var tokens: ByteColumn
        var bodies: ByteColumn
        var collapseIDs: ByteColumn?
    }

    /// The push tokens; empty for released messages.
    package var tokens: ByteColumn { content.withLock(\.tokens) }

    /// The rendered bodies, without what the gateway adds; empty for released messages.
    package var bodies: ByteColumn { content.withLock(\.bodies) }

    /// A collapse id for each message, null for none; nil if ``attributes`` has the only one.
    package var collapseIDs: ByteColumn? { content.withLock(\.collapseIDs) }

    package var count: Int { messageIDs.count }

    /// The approximate memory that it holds.
    package var byteCount: Int {
        content.withLock { $0.tokens.bytes.count + $0.bodies.bytes.count }
            + count * (MemoryLayout<MessageUUID>.stride + 2 * MemoryLayout<Int32>.stride)
    }

    /// Keeps tokens, bodies and collapse ids of these rows and releases all others, which have been sent for the last
    /// time.
    /// - Parameter rows: ascending.
    package func keepOnly(_ rows: [Int32]) {
        content.withLock {
            $0 = Content(
                tokens: $0.tokens.emptied(but: rows),
                bodies: $0.bodies.emptied(but: rows),
                collapseIDs: $0.collapseIDs?.emptied(but: rows)
            )
        }
    }

    /// Makes a batch.
    ///
    /// Passing columns of different lengths is a programming error.
    package init(
        id: Int64,
        tokens: ByteColumn,
        messageIDs: [MessageUUID],
        bodies: ByteColumn,
        attributes: MessageAttributes,
        collapseIDs: ByteColumn? = nil,
        isUrgent: Bool = false,
        deliveryID: Int64 = 0,
        dueMilliseconds: Int64 = 0
    ) {
        precondition(
            messageIDs.count == tokens.count && bodies.count == tokens.count
                && (collapseIDs?.count ?? tokens.count) == tokens.count,
            "all columns of a batch have one row for each message"
        )
        self.id = id
        self.messageIDs = messageIDs
        self.attributes = attributes
        content = Mutex(Content(tokens: tokens, bodies: bodies, collapseIDs: collapseIDs))
        self.isUrgent = isUrgent
        self.deliveryID = deliveryID
        self.dueMilliseconds = dueMilliseconds
    }
}
