/// The result of one request of a batch.
package struct HTTP2Completion: Sendable {
    /// The batch of the request.
    package var batch: HTTP2RequestBatch
    /// The request's index in its batch.
    package var index: Int32
    /// The time from submitting the request to the connection until its end, in microseconds; 0 if it was never
    /// written.
    package var latencyMicroseconds: UInt32
    package var result: HTTP2Result
}
