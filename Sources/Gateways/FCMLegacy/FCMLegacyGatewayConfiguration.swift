import CurlClient

/// The settings of a way to legacy FCM.
public struct FCMLegacyGatewayConfiguration: Sendable {
    /// FCM takes so many tokens in one request.
    public static let mostMessagesPerRequest = 1_000

    /// Where the gateway listens.
    public var address: GatewayAddress
    /// How many requests are on their way at once, each on a connection of its own, 1 or more.
    public var connections: Int
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The way to the gateway.
    public var proxy: CurlProxy = .none
    /// A message without an answer for so long is ambiguous, in milliseconds; Firebase asks for 10,000 or more.
    public var requestTimeoutMilliseconds: Int64 = 60_000
    /// The time for name, TCP and TLS together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64 = 20_000
    /// The most messages with equal bodies that travel in one request, 1 or more.
    public var messagesPerRequest = mostMessagesPerRequest
    /// The pauses between attempts to connect: the longest first one, and the longest of all, in milliseconds.
    public var firstBackOffMilliseconds: Int64 = 1_000
    public var maximumBackOffMilliseconds: Int64 = 5_000

    /// Makes settings.
    public init(address: GatewayAddress, connections: Int = 1, trustRootsFile: String? = nil) {
        self.address = address
        self.connections = connections
        self.trustRootsFile = trustRootsFile
    }
}
