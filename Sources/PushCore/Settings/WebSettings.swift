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
    public var accessLog = "-"
    /// Whether `/r/test` tells where the request came from.
    public var showSourceIP = true
    /// How long requests under way may take when it is asked to end, in seconds.
    public var drainTimeoutSec = 30
    /// Threads that serve connections; 0: one for each core.
    public var threads = 0
    /// What a request may be.
    public var limits = WebLimitSettings()
    /// How registrations are stored.
    public var registration = WebRegistrationSettings()
    /// How hits are stored.
    public var tracking = WebTrackingSettings()

    /// Creates the settings with their defaults.
    public init() {}
}
