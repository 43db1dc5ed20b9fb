import HTTP2

/// The settings of a way to APNs.
public struct APNsGatewayConfiguration: Sendable {
    /// Where the gateway listens.
    public var address: GatewayAddress
    /// How many connections are held, 1 or more.
    public var connections: Int
    /// The application's bundle id.
    public var topic: String
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The proxy on the way; nil for none.
    public var proxy: HTTP2Proxy?
    /// A message without an answer for so long is ambiguous, in milliseconds.
    public var requestTimeoutMilliseconds: Int64 = 60_000
    /// The time for TCP, TLS and the first SETTINGS frame together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64 = 20_000

    /// Makes settings.
    public init(address: GatewayAddress, connections: Int = 1, topic: String, trustRootsFile: String? = nil) {
        self.address = address
        self.connections = connections
        self.topic = topic
        self.trustRootsFile = trustRootsFile
    }
}
