/// The web process: registration and tracking of devices.
package struct WebSettings: Sendable, Equatable {
    /// The IP address that it listens on.
    package var address = "0.0.0.0"
    /// The port for plain HTTP; 0 = none.
    package var port = 8_080
    /// The port for HTTPS; 0 = none.
    package var tlsPort = 0
    /// The PEM file of the certificate and its chain.
    package var certificateFile = ""
    /// The PEM file of the certificate's private key.
    package var privateKeyFile = ""
    /// The prefix of every path, for apps whose configured server address includes a path.
    package var pathPrefix = ""
    /// The connection string of its own database user. Empty: the one of all processes.
    package var databaseUrl = ""
    /// The folder of the tracking spools.
    package var workingPath = "/var/lib/pushmta/web"
    /// The access log, one line a request: a file, or `-` for standard output. Empty: none.
    package var accessLog = ""
    /// Whether `/r/test` shows the source address of the request.
    package var showSourceIP = true
    /// How long requests in progress may take after it is asked to end, in seconds.
    package var drainTimeoutSec = 30
    /// The number of threads that serve connections; 0 = one for each core.
    package var threads = 0
    /// The limits of clients and requests.
    package var limits = WebLimitSettings()
    package var registration = WebRegistrationSettings()
    package var tracking = WebTrackingSettings()

    /// Creates the settings with their defaults.
    package init() {}
}

/// The limits of the web process for clients and requests.
package struct WebLimitSettings: Sendable, Equatable {
    /// The maximum number of simultaneous connections on each port.
    package var maxConnections = 10_000
    /// The maximum number of simultaneous connections of one client; an IPv6 client is a /64 network.
    package var maxConnectionsPerClient = 2_000
    /// The number of connections reserved for the API.
    package var apiConnections = 100
    /// The maximum size of a request's head, in KiB.
    package var maxHeaderKb = 16
    /// The maximum size of a request's body, in KiB.
    package var maxBodyKb = 64
    /// How long a client may take to send the head of a request, in seconds.
    package var headerTimeoutSec = 10
    /// How long a client may take to send the body of a request, in seconds.
    package var bodyTimeoutSec = 15
    /// How long a client may accept no data that is sent to it, in seconds.
    package var writeTimeoutSec = 15
    /// How long a connection may stay without a request, in seconds.
    package var idleTimeoutSec = 75
    /// The maximum number of requests per second of one client address; 0 = no limit.
    package var requestsPerSecond = 1_000
    /// The number of requests that one client address may send at once above that rate.
    package var requestBurst = 10_000
    /// The addresses of proxies whose `X-Forwarded-For` is trusted. They have no limits themselves.
    package var trustedProxies = "127.0.0.0/8, ::1"

    /// Creates the settings with their defaults.
    package init() {}
}

/// How the web process stores registrations.
package struct WebRegistrationSettings: Sendable, Equatable {
    /// The maximum number of registrations in one transaction.
    package var batchSize = 500
    /// How long a registration waits for others, in milliseconds.
    package var batchDelayMs = 1
    /// The maximum number of waiting registrations.
    package var maxWaiting = 20_000
    /// How long a registration waits for an unreachable database, in seconds.
    package var timeoutSec = 5

    /// Creates the settings with their defaults.
    package init() {}
}

/// How the web process stores hits.
package struct WebTrackingSettings: Sendable, Equatable {
    /// The maximum number of hits in one transaction.
    package var batchSize = 1_000
    /// How long a hit waits for others, in milliseconds.
    package var batchDelayMs = 1
    /// The maximum number of waiting hits.
    package var maxWaiting = 50_000
    /// How long a transaction may take before its hits go to the spool, in milliseconds.
    package var databaseTimeoutMs = 2_000
    /// The maximum disk space of the spools, in MiB.
    package var maxSpoolMb = 500

    /// Creates the settings with their defaults.
    package init() {}
}
