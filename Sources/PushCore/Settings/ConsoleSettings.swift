/// The console: pages for people who look after deliveries and hosts.
public struct ConsoleSettings: Sendable, Equatable {
    /// The address that it listens on.
    public var address = "127.0.0.1"
    /// The port that it listens on.
    public var port = 8_090
    /// The PEM file of the certificate and its chain. Empty: no TLS, on loopback only.
    public var certificateFile = ""
    /// The PEM file of the certificate's private key.
    public var privateKeyFile = ""
    /// The connection string of its own database user. Empty: that of all processes.
    public var databaseUrl = ""
    /// The addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count.
    public var trustedProxies = ""
    /// After how much time without use a session is over, in minutes.
    public var idleMinutes = 30
    /// After how much time a session is over, however much it is used, in hours.
    public var sessionHours = 12
    /// So many failures to sign in lock a name.
    public var signInFailures = 5
    /// How long a name or an address is locked, in minutes.
    public var lockMinutes = 15

    /// Creates the settings with their defaults.
    public init() {}

    public var hasTLS: Bool { !certificateFile.isEmpty || !privateKeyFile.isEmpty }

    /// Whether nobody but programs of this machine can reach it.
    public var isLoopback: Bool {
        address == "localhost" || address == "::1" || IPAddress(address)?.isLoopback == true
    }

    /// The proxies whose headers count; nil if one of them is no address.
    public var proxies: Set<IPAddress>? {
        let texts = trustedProxies.split { $0 == "," || $0.isWhitespace }
        let addresses = texts.compactMap { IPAddress($0) }
        return addresses.count == texts.count ? Set(addresses) : nil
    }

    /// What becomes of addresses where people may come by a proxy of this machine that is not named; nil if one is named, or if
    /// none is needed.
    public var proxyNotice: String? {
        guard isLoopback, proxies?.isEmpty == true else { return nil }
        return
            "console.trustedProxies is empty: behind a proxy on this host everyone has the address \(address) for locks, shares of "
            + "connections and the audit log. Name the proxy there (127.0.0.1), and let it set X-Forwarded-For"
    }

    /// What is wrong with the settings beside files, and what to give instead.
    public var problems: [String] {
        var problems: [String] = []
        if address.isEmpty || address.contains(where: \.isWhitespace) {
            problems.append("console.address is “\(address)”: give an address of this machine, such as 127.0.0.1")
        } else if !isLoopback, !hasTLS {
            problems.append(
                "console.address is \(address), which other machines reach, and there is no TLS: passwords would be readable on the way. "
                    + "Set console.certificateFile and console.privateKeyFile, or console.address to 127.0.0.1 behind a proxy that speaks HTTPS"
            )
        }
        if certificateFile.isEmpty != privateKeyFile.isEmpty {
            problems.append("console.certificateFile and console.privateKeyFile belong together: give both, or neither")
        }
        if proxies == nil {
            problems.append("console.trustedProxies is “\(trustedProxies)”: give IP addresses, separated with commas")
        }
        return problems
    }
}

extension Settings {
    static let consoleDefinitions: [SettingDefinition] = [
        .init("console.address", unit: "IP address", .text(\.console.address)),
        .init("console.port", unit: "port", .integer(\.console.port, 1...65_535)),
        .init("console.certificateFile", unit: "path", .text(\.console.certificateFile)),
        .init("console.privateKeyFile", unit: "path", .text(\.console.privateKeyFile)),
        .init(
            "console.databaseUrl",
            unit: "libpq connection string or URI",
            .text(\.console.databaseUrl),
            mayHoldSecret: true
        ),
        .init("console.trustedProxies", unit: "addresses", .text(\.console.trustedProxies)),
        .init("console.idleMinutes", unit: "minutes", .integer(\.console.idleMinutes, 1...1_440)),
        .init("console.sessionHours", unit: "hours", .integer(\.console.sessionHours, 1...168)),
        .init("console.signInFailures", unit: "failures", .integer(\.console.signInFailures, 1...100)),
        .init("console.lockMinutes", unit: "minutes", .integer(\.console.lockMinutes, 1...1_440)),
    ]
}

extension IPAddress {
    /// Whether it is this machine's own, 127.0.0.0/8 or ::1.
    public var isLoopback: Bool { isIPv4 ? low >> 24 & 255 == 127 : high == 0 && low == 1 }
}
