/// The end of one request of a batch.
public struct HTTP2Completion: Sendable {
    /// The batch that the request belongs to.
    public var batch: HTTP2RequestBatch
    /// The request's index in its batch.
    public var index: Int32
    /// The time from handing the request to the connection to its end, in microseconds; 0 if it was never written.
    public var latencyMicroseconds: UInt32
    public var result: HTTP2Result
}
