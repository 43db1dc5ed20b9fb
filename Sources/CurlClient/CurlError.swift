/// A request that got no answer.
///
/// The description names the server, never the path, the query, a header or the body.
public struct CurlError: Error, Sendable, CustomStringConvertible {
    /// What went wrong, in the classes that a caller tells apart.
    public enum Code: String, Sendable {
        /// The request cannot be performed as it stands, for example because of a malformed address.
        case invalidRequest
        /// The host name, or the proxy's, has no address.
        case resolve
        /// No connection came about.
        case connect
        /// The TLS handshake failed, the certificate is not trusted, or the CA file cannot be used.
        case tls
        /// The time was up.
        case timeout
        /// The connection ended in the middle of the exchange, or the answer is not HTTP.
        case transfer
        /// The answer is larger than ``CurlRequest/maximumResponseBytes`` or its header fields exceed 64 KiB.
        case responseTooLarge
        /// The caller did not want it any more.
        case cancelled
        /// The caller said that it must not leave when it could have.
        case withheld
        /// The client could not be started.
        case unavailable
    }

    /// The class of the error.
    public let code: Code
    /// libcurl's own number (`CURLcode`), 0 if the error is not libcurl's.
    public let curlCode: Int32
    /// Whether bytes of the request may have reached the server, so that it may have acted on it.
    public let mayHaveBeenSent: Bool
    /// What happened, to which server, and why.
    public let message: String
    /// The cause alone, in libcurl's words; empty if the error is not libcurl's.
    public let cause: String

    /// Makes an error.
    public init(
        _ code: Code,
        _ message: String,
        curlCode: Int32 = 0,
        mayHaveBeenSent: Bool = false,
        cause: String = ""
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.curlCode = curlCode
        self.mayHaveBeenSent = mayHaveBeenSent
    }

    public var description: String { message }
}
