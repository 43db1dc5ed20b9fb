import LaboratoryStore
import PushCore
import Store

/// Finds the message that an id at the gateway belongs to.
struct MessageResolver: Sendable {
    /// A message of a delivery.
    struct Message: Sendable, Hashable {
        let delivery: Int64
        let sequence: Int32
    }

    /// The codecs of the deliveries, in the order of their start.
    let codecs: [MessageIDCodec]
    private let deliveries: Set<Int64>
    /// One codec per key. All deliveries of a day share a key, and an id includes its delivery.
    private let keys: [MessageIDCodec]

    /// Reads the keys of these deliveries.
    init(_ deliveries: [DrillDelivery], store: Store) async throws {
        var codecs: [MessageIDCodec] = []
        var keys: [[UInt8]: MessageIDCodec] = [:]
        for delivery in deliveries {
            let key = try await store.trackingKey(delivery: delivery.id)
            let codec = try MessageIDCodec(deliveryID: delivery.id, trackingKey: key)
            codecs.append(codec)
            keys[key] = codec
        }
        self.codecs = codecs
        self.keys = Array(keys.values)
        self.deliveries = Set(deliveries.map(\.id))
    }

    /// The message with this id; `nil` if it belongs to none of the deliveries.
    func message(_ id: String) -> Message? {
        guard let uuid = MessageUUID(id) else { return nil }
        for key in keys {
            guard let message = key.message(of: uuid), deliveries.contains(message.deliveryID) else { continue }
            return Message(delivery: message.deliveryID, sequence: message.sequence)
        }
        return nil
    }
}
