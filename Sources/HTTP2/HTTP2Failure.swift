/// Why a request ended without a response.
public struct HTTP2Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened to the request's stream or connection.
    public enum Cause: Sendable, Hashable {
        /// The server reset the stream.
        case reset(HTTP2ErrorCode)
        /// The server sent GOAWAY and the stream is above its last stream id.
        case goAway
        /// The connection ended while the request was on it.
        case connectionClosed
        /// The request's deadline passed; the stream was reset with CANCEL.
        case timeout
        /// The caller took the request back before it was written.
        case cancelled
        /// nghttp2 refused to open the stream.
        case notSubmitted
    }

    public var cause: Cause

    public init(_ cause: Cause) {
        self.cause = cause
    }

    public var description: String {
        switch cause {
        case .reset(let code): "the stream was reset by the server with \(code)"
        case .goAway: "the server closed the connection for new streams before it processed this one"
        case .connectionClosed: "the connection ended before an answer came"
        case .timeout: "no answer came before the request's deadline"
        case .cancelled: "the request was taken back before it was written"
        case .notSubmitted: "the connection accepted no more streams"
        }
    }
}
