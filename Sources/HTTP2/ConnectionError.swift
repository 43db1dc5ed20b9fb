/// A peer's error that ends the connection (RFC 9113, section 5.4.1).
struct ConnectionError: Error, CustomStringConvertible {
    let code: HTTP2ErrorCode
    let reason: String

    init(_ code: HTTP2ErrorCode, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    var description: String { "\(code), \(reason)" }
}
