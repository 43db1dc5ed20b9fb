/// What the web process takes from a client.
public struct WebLimitSettings: Sendable, Equatable {
    /// The most connections at once, on each port.
    public var maxConnections = 10_000
    /// The most connections of one client at once; an IPv6 client is a /64.
    public var maxConnectionsPerClient = 2_000
    /// How many of the connections are kept for the API.
    public var apiConnections = 100
    /// The largest head of a request, in KiB.
    public var maxHeaderKb = 16
    /// The largest body of a request, in KiB.
    public var maxBodyKb = 64
    /// How long a client may take to send the head of a request, in seconds.
    public var headerTimeoutSec = 10
    /// How long a client may take to send the body of a request, in seconds.
    public var bodyTimeoutSec = 15
    /// How long a client may take nothing of what is sent to it, in seconds.
    public var writeTimeoutSec = 15
    /// How long a connection may stay without a request, in seconds.
    public var idleTimeoutSec = 75
    /// The requests per second of one client address; 0: no limit.
    public var requestsPerSecond = 1_000
    /// The requests of one client address at once, above that rate.
    public var requestBurst = 10_000
    /// The addresses of proxies whose `X-Forwarded-For` counts, and which have no limit themselves.
    public var trustedProxies = "127.0.0.0/8, ::1"

    /// Creates the settings with their defaults.
    public init() {}
}
