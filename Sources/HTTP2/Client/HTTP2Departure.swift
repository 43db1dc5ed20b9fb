/// Requests of a batch that are about to get streams.
package struct HTTP2Departure: Sendable {
    /// The batch of the requests.
    package var batch: HTTP2RequestBatch
    /// Their indexes in the batch; never empty.
    package var range: Range<Int32>
}
