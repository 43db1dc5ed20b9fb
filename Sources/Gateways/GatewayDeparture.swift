/// Messages of a batch that are about to get streams.
package struct GatewayDeparture: Sendable {
    /// The batch that the messages belong to.
    package var batch: GatewayRequestBatch
    /// Their rows: not empty, without overlaps, in the order in which they leave, which may differ from row order.
    package var ranges: [Range<Int32>]

    package init(batch: GatewayRequestBatch, ranges: [Range<Int32>]) {
        self.batch = batch
        self.ranges = ranges
    }
}
