/// How a client proves the server's identity.
public struct HTTP2TLS: Sendable {
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The name that the certificate must carry and that is sent as SNI; nil means the host.
    public var serverName: String?

    public init(trustRootsFile: String? = nil, serverName: String? = nil) {
        self.trustRootsFile = trustRootsFile
        self.serverName = serverName
    }
}
