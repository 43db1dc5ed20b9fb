/// The connection on which a request is about to be sent; its handshakes are done.
package struct CurlConnection: Sendable, Hashable {
    /// The peer's numeric address and port; the proxy's if there is one.
    package var peer: String
    /// Whether it was opened for this request; otherwise it is reused.
    package var isNew: Bool
}
