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

/// How a request ended, by what can safely be done next (RFC 9113 section 8.7).
package enum HTTP2Result: Sendable {
    case response(HTTP2Response)
    /// The server did not process the request: it is safe to send again.
    case unprocessed(HTTP2Failure)
    /// The request was written and got no response: it may or may not have been processed.
    case ambiguous(HTTP2Failure)
}
