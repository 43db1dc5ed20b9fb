/// How a client proves the server's identity, and its own where the server asks for that.
public struct HTTP2TLS: Sendable {
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The name that the certificate must carry and that is sent as SNI; nil means the host.
    public var serverName: String?
    /// The client's certificate; nil for none.
    public var identity: HTTP2TLSIdentity?

    public init(trustRootsFile: String? = nil, serverName: String? = nil, identity: HTTP2TLSIdentity? = nil) {
        self.trustRootsFile = trustRootsFile
        self.serverName = serverName
        self.identity = identity
    }
}
