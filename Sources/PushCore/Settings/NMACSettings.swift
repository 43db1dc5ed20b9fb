/// What concerns the mobile gateways themselves (Adobe's node `nmac`).
public struct NMACSettings: Sendable, Equatable {
    /// How the gateways are reached.
    public var relay = RelaySettings()
    /// Whether gateways and token endpoints are reached through the HTTP proxy.
    public var useHTTPProxy = false
    public var proxyHTTP = ProxyHTTPSettings()
    /// APNs' binary protocol.
    public var binary = BinarySettings()
    public var fcm = TokenSourceSettings()

    /// Creates the settings with their defaults.
    public init() {}
}

/// How the gateways are reached (Adobe's node `nmac/relay`).
public struct RelaySettings: Sendable, Equatable {
    /// A PEM file of certificate authorities for external accounts that name none. Empty: the system's.
    public var trustedCertsChain = ""

    /// Creates the settings with their defaults.
    public init() {}
}

/// The HTTP proxy (the parameters of Adobe's node `proxyConfig/proxyHTTP`).
public struct ProxyHTTPSettings: Sendable, Equatable {
    /// Its name or IP address; `environment` takes proxy and exceptions from `https_proxy` and `no_proxy`.
    public var address = ""
    public var port = 8_080
    /// The name to give it. Empty: none.
    public var login = ""
    /// The password to give it.
    public var password = ""
    /// Hosts that are reached without it, separated with semicolons; `*` stands for anything.
    public var override = ""

    /// Creates the settings with their defaults.
    public init() {}
}

/// What credentials for FCM may read and ask on this host (workload identity, metadata server, token endpoints other than Google's).
public struct TokenSourceSettings: Sendable, Equatable {
    /// The folder below which files with tokens of another identity provider lie. Empty: none may be read.
    public var tokenPath = ""
    /// Addresses that may be asked for such tokens, and token endpoints other than Google's for service accounts, word for word, separated
    /// with semicolons. Empty: none.
    public var tokenURLs = ""
    /// Whether Google's metadata server may be asked for tokens of the machine's service account.
    public var metadataServer = false

    /// Creates the settings with their defaults.
    public init() {}
}

/// What concerns APNs' binary protocol only.
public struct BinarySettings: Sendable, Equatable {
    /// How long nothing must be heard of a message until it counts as accepted, in milliseconds.
    ///
    /// The protocol has no word for success. An error packet comes within a round trip and the time that the gateway takes to
    /// look at the messages before: well below a second, and a late one would find its message, and those behind it, reported as
    /// accepted. So some seconds; each of them costs rate, as ``dispatchWindow`` messages can be accepted in this time and no more.
    public var presumedAcceptedMs = 5_000
    /// The most messages of one child of a connector `ios-binary` that are sent or about to be sent and not stored.
    public var dispatchWindow = 30_000
    /// The time between two readings of a feedback service, in seconds.
    public var feedbackPeriodSec = 21_600

    /// Creates the settings with their defaults.
    public init() {}
}
