/// What the head of a request says of its connection, and not of what is asked for.
struct RequestFrame: Sendable, Hashable {
    /// Whether the connection ends with the answer (RFC 9112, section 9.3).
    var isLast = false
    /// Whether the client is of HTTP/1.0, asks for further answers on the connection and must be told that there may be some.
    var asksToPersist = false
    /// Whether it names just one host, as every request of HTTP/1.1 has to (RFC 9112, section 3.2).
    var hasSoundHost = true
    /// Whether the client waits for a word before it sends the body (RFC 9110, section 10.1.1).
    var expectsContinue = false
}
