import PushCore

/// Messages of a batch that are about to get streams.
public struct GatewayDeparture: Sendable {
    /// The batch that the messages belong to.
    public var batch: GatewayRequestBatch
    /// Their rows: not empty, without overlaps, in the order in which they leave, which need not be that of the rows.
    public var ranges: [Range<Int32>]
}
