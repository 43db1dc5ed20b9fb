/// How one request ended, by what may safely be done next (RFC 9113 section 8.7).
public enum HTTP2Result: Sendable {
    /// The server answered.
    case response(HTTP2Response)
    /// The server did not process the request: it may be sent again without a duplicate.
    case unprocessed(HTTP2Failure)
    /// The request was written and no answer came: it may or may not have been processed.
    case ambiguous(HTTP2Failure)
}
