/// Requests of a batch that are about to get streams.
public struct HTTP2Departure: Sendable {
    /// The batch that the requests belong to.
    public var batch: HTTP2RequestBatch
    /// Their indexes in the batch; never empty.
    public var range: Range<Int32>
}
