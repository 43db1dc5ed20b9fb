/// The web process: registration and tracking of devices.
public struct WebSettings: Sendable, Equatable {
    /// The address that it listens on.
    public var address = "0.0.0.0"
    /// The port of plain HTTP; 0: none.
    public var port = 8_080
    /// The port of HTTPS; 0: none.
    public var tlsPort = 0
    /// The PEM file of the certificate and its chain.
    public var certificateFile = ""
    /// The PEM file of the certificate's private key.
    public var privateKeyFile = ""
    /// What stands before every path, for a server whose name the apps were given with a path.
    public var pathPrefix = ""
    /// The connection string of its own database user. Empty: that of all processes.
    public var databaseUrl = ""
    /// The folder of the tracking spools.
    public var workingPath = "/var/lib/pushmta/web"
    /// Where a line for each request goes: a file, `-` for standard output. Empty: nowhere.
    public var accessLog = ""
    /// Whether `/r/test` tells where the request came from.
    public var showSourceIP = true
    /// How long requests under way may take when it is asked to end, in seconds.
    public var drainTimeoutSec = 30
    /// Threads that serve connections; 0: one for each core.
    public var threads = 0
    /// What a request may be.
    public var limits = WebLimitSettings()
    public var registration = WebRegistrationSettings()
    public var tracking = WebTrackingSettings()

    /// Creates the settings with their defaults.
    public init() {}
}

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

/// How the web process stores registrations.
public struct WebRegistrationSettings: Sendable, Equatable {
    /// The most registrations of one transaction.
    public var batchSize = 500
    /// How long a registration waits for others, in milliseconds.
    public var batchDelayMs = 1
    /// The most registrations that wait.
    public var maxWaiting = 20_000
    /// How long a registration waits for a database that is away, in seconds.
    public var timeoutSec = 5

    /// Creates the settings with their defaults.
    public init() {}
}

/// How the web process stores hits.
public struct WebTrackingSettings: Sendable, Equatable {
    /// The most hits of one transaction.
    public var batchSize = 1_000
    /// How long a hit waits for others, in milliseconds.
    public var batchDelayMs = 1
    /// The most hits that wait.
    public var maxWaiting = 50_000
    /// How long the database may take for a transaction until its hits go to the spool, in milliseconds.
    public var databaseTimeoutMs = 2_000
    /// The most disk that the spools take, in MiB.
    public var maxSpoolMb = 500

    /// Creates the settings with their defaults.
    public init() {}
}
