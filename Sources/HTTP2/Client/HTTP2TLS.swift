/// How a client verifies the server's identity, and proves its own if the server asks for it.
package struct HTTP2TLS: Sendable {
    /// A PEM file with the trusted roots; nil for the system's.
    package var trustRootsFile: String?
    /// The name that the certificate must have and that is sent as SNI; nil for the host.
    package var serverName: String?
    /// The client's certificate; nil for none.
    package var identity: HTTP2TLSIdentity?

    package init(trustRootsFile: String? = nil, serverName: String? = nil, identity: HTTP2TLSIdentity? = nil) {
        self.trustRootsFile = trustRootsFile
        self.serverName = serverName
        self.identity = identity
    }
}
