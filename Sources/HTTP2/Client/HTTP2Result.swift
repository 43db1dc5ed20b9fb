/// How a request ended, by what can safely be done next (RFC 9113 section 8.7).
package enum HTTP2Result: Sendable {
    case response(HTTP2Response)
    /// The server did not process the request: it is safe to send again.
    case unprocessed(HTTP2Failure)
    /// The request was written and got no response: it may or may not have been processed.
    case ambiguous(HTTP2Failure)
}
