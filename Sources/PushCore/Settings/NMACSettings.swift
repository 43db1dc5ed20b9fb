/// The settings of the mobile gateways (Adobe's node `nmac`).
package struct NMACSettings: Sendable, Equatable {
    /// How the gateways are reached.
    package var relay = RelaySettings()
    /// Whether gateways and token endpoints are reached through the HTTP proxy.
    package var useHTTPProxy = false
    package var proxyHTTP = ProxyHTTPSettings()
    /// APNs' binary protocol.
    package var binary = BinarySettings()
    package var fcm = TokenSourceSettings()

    /// Creates the settings with their defaults.
    package init() {}
}

/// How the gateways are reached (Adobe's node `nmac/relay`).
package struct RelaySettings: Sendable, Equatable {
    /// A PEM file of certificate authorities, for external accounts that have none of their own. Empty: the system's.
    package var trustedCertsChain = ""

    /// Creates the settings with their defaults.
    package init() {}
}

/// The HTTP proxy (the parameters of Adobe's node `proxyConfig/proxyHTTP`).
package struct ProxyHTTPSettings: Sendable, Equatable {
    /// Its name or IP address. `environment` takes the proxy and its exceptions from `https_proxy` and `no_proxy`.
    package var address = ""
    package var port = 8_080
    /// The login name. Empty: none.
    package var login = ""
    /// The password.
    package var password = ""
    /// Hosts that are reached without the proxy, separated by semicolons; `*` matches anything.
    package var override = ""

    /// Creates the settings with their defaults.
    package init() {}
}

/// The token sources that FCM credentials may use on this host (workload identity, metadata server, token endpoints
/// other than Google's).
package struct TokenSourceSettings: Sendable, Equatable {
    /// The folder under which token files of another identity provider may be read. Empty: none.
    package var tokenPath = ""
    /// The URLs that may be asked for such tokens, and token endpoints other than Google's for service accounts. They
    /// must match exactly and are separated by semicolons. Empty: none.
    package var tokenURLs = ""
    /// Whether Google's metadata server may be asked for tokens of the machine's service account.
    package var metadataServer = false

    /// Creates the settings with their defaults.
    package init() {}
}

/// The settings of APNs' binary protocol.
package struct BinarySettings: Sendable, Equatable {
    /// The time without an error packet after which a message counts as accepted, in milliseconds.
    ///
    /// The protocol does not report success. An error packet comes within a round trip and the time that the gateway
    /// needs for the messages before it: well below a second. A later one would find its message, and the messages
    /// after it, already recorded as accepted. So the value is some seconds. A longer time lowers the rate, as at most
    /// ``dispatchWindow`` messages can be accepted in it.
    package var presumedAcceptedMs = 5_000
    /// The maximum number of messages of one child with connector `ios-binary` that are sent, or about to be sent, and
    /// not yet stored.
    package var dispatchWindow = 30_000
    /// The time between two reads of a feedback service, in seconds.
    package var feedbackPeriodSec = 21_600

    /// Creates the settings with their defaults.
    package init() {}
}
