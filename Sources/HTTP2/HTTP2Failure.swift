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

/// The error codes of RFC 9113 section 7.
public struct HTTP2ErrorCode: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    public static let noError = HTTP2ErrorCode(rawValue: 0x0)
    public static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    public static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    public static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    public static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
    public static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    public static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    public static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    public static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    public static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    public static let connectError = HTTP2ErrorCode(rawValue: 0xa)
    public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xb)
    public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xc)
    public static let http11Required = HTTP2ErrorCode(rawValue: 0xd)

    private static let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
        "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]

    /// The name that RFC 9113 gives the code, or the number in hexadecimal when it has none.
    public var description: String {
        rawValue < UInt32(Self.names.count) ? Self.names[Int(rawValue)] : "0x" + String(rawValue, radix: 16)
    }
}
