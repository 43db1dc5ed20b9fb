import CNGHTTP2

extension ClientSession {
    /// nghttp2's own name for a connection-level error, as a text.
    struct SessionError: Error, CustomStringConvertible {
        var code: Int32
        var description: String { String(cString: nghttp2_strerror(code)) }
    }
}
