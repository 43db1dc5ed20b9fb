/// The connection that a request is about to be sent on, all handshakes done.
public struct CurlConnection: Sendable, Hashable {
    /// The other end as a numeric address with its port; a proxy's where there is one.
    public var peer: String
    /// Whether it was made for this request; if not, an earlier request left it.
    public var isNew: Bool

    /// Makes a description.
    public init(peer: String, isNew: Bool) {
        self.peer = peer
        self.isNew = isNew
    }
}
