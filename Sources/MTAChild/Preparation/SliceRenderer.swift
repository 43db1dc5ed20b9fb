import Gateways
import PushCore
import Store

/// Renders the payloads of a part's messages into request batches.
struct SliceRenderer {
    struct Rendered {
        var rows: [Int32]
        var batch: GatewayRequestBatch
        var tooLong: [PreparedPart.Decided]
    }

    private let delivery: CompiledDelivery
    private let loaded: LoadedPart
    /// The bytes of an average body, learnt from the last slice.
    private var bodySize = 256

    init(delivery: CompiledDelivery, loaded: LoadedPart) {
        self.delivery = delivery
        self.loaded = loaded
    }

    mutating func render(_ candidates: ArraySlice<Int32>, batchID: Int64) -> Rendered {
        let template = delivery.template
        var ids: [MessageUUID] = []
        ids.reserveCapacity(candidates.count)
        delivery.codec.appendUUIDs(sequences: candidates.map { loaded.sequences[Int($0)] }, to: &ids)
        var rows: [Int32] = []
        var keptIDs: [MessageUUID] = []
        var tokens = ByteColumn()
        var bodies = ByteColumn()
        var collapseIDs: ByteColumn? = template.hasPersonalisedCollapseID ? ByteColumn() : nil
        var tooLong: [PreparedPart.Decided] = []
        rows.reserveCapacity(candidates.count)
        keptIDs.reserveCapacity(candidates.count)
        tokens.reserve(rows: candidates.count, bytes: candidates.count * 80)
        bodies.reserve(rows: candidates.count, bytes: candidates.count * bodySize)
        for (position, row) in candidates.enumerated() {
            var size = 0
            bodies.append { buffer in
                size = template.render(
                    row: Int(row),
                    fields: loaded.fields,
                    tokens: loaded.tokens,
                    messageID: ids[position],
                    sequence: loaded.sequences[Int(row)],
                    into: &buffer
                )
                return true
            }
            var reason =
                size > delivery.payloadLimit
                ? PayloadLimits.tooLongReason(limit: delivery.payloadLimit) : nil
            if reason == nil, collapseIDs != nil {
                var isValid = false
                collapseIDs?.append { buffer in
                    isValid = template.renderCollapseID(row: Int(row), fields: loaded.fields, into: &buffer)
                    return true
                }
                if !isValid {
                    collapseIDs?.removeLast()
                    reason = "BadCollapseId: the personalised collapse id has not 1 to 64 bytes"
                }
            }
            if let reason {
                bodies.removeLast()
                tooLong.append(.init(row: row, status: .failed, reason: reason))
                continue
            }
            rows.append(row)
            keptIDs.append(ids[position])
            tokens.append(loaded.tokens[Int(row)])
        }
        if !rows.isEmpty { bodySize = bodies.bytes.count / rows.count + 16 }
        let batch = GatewayRequestBatch(
            id: batchID,
            tokens: tokens,
            messageIDs: keptIDs,
            bodies: bodies,
            attributes: template.attributes,
            collapseIDs: collapseIDs
        )
        return Rendered(rows: rows, batch: batch, tooLong: tooLong)
    }
}
