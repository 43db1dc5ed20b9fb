import Gateways

/// A message of a batch.
struct BinaryMessage: Sendable {
    let batch: GatewayRequestBatch
    let row: Int32
}
