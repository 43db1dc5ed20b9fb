/// The settings of a way to FCM HTTP v1.
public struct FCMv1GatewayConfiguration: Sendable {
    /// Where the gateway listens; the token endpoint stands in the service account.
    public var address: GatewayAddress
    /// How many connections are held, 1 or more.
    public var connections: Int
    /// A PEM file with the trusted roots for the gateway and the token endpoint; nil means the system's.
    public var trustRootsFile: String?
    /// The proxy on the way to the gateway and to the token endpoint; nil for none.
    public var proxy: GatewayProxy?
    /// A message without an answer for so long is ambiguous, in milliseconds; Firebase asks for 10,000 or more.
    public var requestTimeoutMilliseconds: Int64 = 60_000
    /// The time for TCP, TLS and the first SETTINGS frame together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64 = 20_000

    /// Makes settings.
    public init(address: GatewayAddress, connections: Int = 1, trustRootsFile: String? = nil) {
        self.address = address
        self.connections = connections
        self.trustRootsFile = trustRootsFile
    }
}
