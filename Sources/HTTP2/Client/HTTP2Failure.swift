/// Why a request ended without a response.
package struct HTTP2Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened to the request's stream or connection.
    package enum Cause: Sendable, Hashable {
        /// The server reset the stream.
        case reset(HTTP2ErrorCode)
        /// We reset the stream because of the server's protocol error on it; with what was malformed.
        case malformed(String)
        /// The server sent GOAWAY, and the stream is above its last stream id.
        case goAway
        /// The connection ended before the request did.
        case connectionClosed
        /// The request's deadline passed; the stream was reset with CANCEL.
        case timeout
        /// The request was cancelled before it was written.
        case cancelled
    }

    package var cause: Cause

    package init(_ cause: Cause) {
        self.cause = cause
    }

    package var description: String {
        switch cause {
        case .reset(let code): "the stream was reset by the server with \(code)"
        case .malformed(let what): "the server's response was malformed: \(what)"
        case .goAway: "the server sent GOAWAY before it processed this request"
        case .connectionClosed: "the connection ended before a response came"
        case .timeout: "no response came before the request's deadline"
        case .cancelled: "the request was cancelled before it was written"
        }
    }
}
