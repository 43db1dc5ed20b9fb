/// Settings that all kinds of gateways have.
public struct GatewayOptions: Sendable, Hashable {
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The HTTP proxy on the way to gateways and token endpoints; nil for none.
    public var proxy: GatewayProxy?
    /// A message without an answer for so long is ambiguous, in milliseconds.
    public var requestTimeoutMilliseconds: Int64
    /// The time for TCP, TLS and the first SETTINGS frame together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64

    /// Binary protocol: how many messages a connection may have on the wire whose fate is open, at most.
    public var sendAhead = 30_000
    /// Binary protocol: a message of which nothing was heard for so long counts as accepted, in milliseconds.
    public var presumedAcceptedMilliseconds: Int64 = 5_000

    /// Makes settings.
    public init(
        trustRootsFile: String? = nil,
        proxy: GatewayProxy? = nil,
        requestTimeoutMilliseconds: Int64 = 60_000,
        connectTimeoutMilliseconds: Int64 = 20_000
    ) {
        self.trustRootsFile = trustRootsFile
        self.proxy = proxy
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }
}
