import PushCore
import Store

/// Tells which message an id at the gateway belongs to.
struct MessageResolver: Sendable {
    /// A message of a delivery.
    struct Message: Sendable, Hashable {
        let delivery: Int64
        let sequence: Int32
    }

    /// The codecs of the deliveries, in the order of their start.
    let codecs: [MessageIDCodec]
    /// Deliveries follow one another, so the one of the last push is tried first.
    private var last = 0

    /// Reads the keys of these deliveries.
    init(_ deliveries: [DrillDelivery], store: Store) async throws {
        var codecs: [MessageIDCodec] = []
        for delivery in deliveries {
            codecs.append(
                try MessageIDCodec(
                    deliveryID: delivery.id,
                    trackingKey: try await store.trackingKey(delivery: delivery.id)
                )
            )
        }
        self.codecs = codecs
    }

    /// The message with this id; `nil` if none of the deliveries made it.
    mutating func message(_ id: String) -> Message? {
        guard let uuid = MessageUUID(id) else { return nil }
        for place in 0..<codecs.count {
            let index = (last + place) % codecs.count
            guard let sequence = codecs[index].sequence(of: uuid) else { continue }
            last = index
            return Message(delivery: codecs[index].deliveryID, sequence: sequence)
        }
        return nil
    }
}

extension DrillSite {
    /// Calls `body` with each push that the gateways have recorded so far, in the order of their arrival, and the message that
    /// it was.
    func pushes(_ body: (GatewayRecordLine, MessageResolver.Message?) -> Void) async throws {
        var resolver = try await MessageResolver(deliveries, store: store())
        try GatewayRecord.read(recordFile, from: tail?.start ?? 0) { line in body(line, resolver.message(line.id)) }
    }
}
