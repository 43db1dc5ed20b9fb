/// Settings that all kinds of gateways have.
public struct GatewayOptions: Sendable, Hashable {
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// A message without an answer for so long is ambiguous, in milliseconds.
    public var requestTimeoutMilliseconds: Int64
    /// The time for TCP, TLS and the first SETTINGS frame together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64

    /// Makes settings.
    public init(
        trustRootsFile: String? = nil,
        requestTimeoutMilliseconds: Int64 = 60_000,
        connectTimeoutMilliseconds: Int64 = 20_000
    ) {
        self.trustRootsFile = trustRootsFile
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }
}
