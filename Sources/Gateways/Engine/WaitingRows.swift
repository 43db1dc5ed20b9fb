/// Messages of one batch that wait for a token.
struct WaitingRows {
    var batch: GatewayRequestBatch
    /// The rows that wait; nil for all.
    var rows: [Int32]?

    var count: Int { rows?.count ?? batch.count }

    /// The rows that wait, spelled out.
    var indexes: [Int32] { rows ?? Array(0..<Int32(batch.count)) }
}
