/// The console: web pages for operators of deliveries and hosts.
package struct ConsoleSettings: Sendable, Equatable {
    /// The IP address that it listens on.
    package var address = "127.0.0.1"
    /// The port that it listens on.
    package var port = 8_090
    /// The PEM file of the certificate and its chain. Empty: no TLS, allowed on loopback only.
    package var certificateFile = ""
    /// The PEM file of the certificate's private key.
    package var privateKeyFile = ""
    /// The connection string of its own database user. Empty: the one of all processes.
    package var databaseUrl = ""
    /// The addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.
    package var trustedProxies = ""
    /// The time without use after which a session ends, in minutes.
    package var idleMinutes = 30
    /// The maximum duration of a session, in hours.
    package var sessionHours = 12
    /// The number of failed sign-ins that lock a name.
    package var signInFailures = 5
    /// How long a name or an address is locked, in minutes.
    package var lockMinutes = 15

    /// Creates the settings with their defaults.
    package init() {}

    package var hasTLS: Bool { !certificateFile.isEmpty || !privateKeyFile.isEmpty }

    /// Whether only programs on this machine can reach it.
    package var isLoopback: Bool {
        address == "localhost" || address == "::1" || IPAddress(address)?.isLoopback == true
    }

    /// The proxies whose headers are trusted; nil if one of them is not an address.
    package var proxies: Set<IPAddress>? {
        let texts = trustedProxies.split { $0 == "," || $0.isWhitespace }
        let addresses = texts.compactMap { IPAddress($0) }
        return addresses.count == texts.count ? Set(addresses) : nil
    }

    /// A warning that clients behind a proxy on this machine share its address; nil if a proxy is named or none can be
    /// needed.
    package var proxyNotice: String? {
        guard isLoopback, proxies?.isEmpty == true else { return nil }
        return
            "console.trustedProxies is empty: behind a proxy on this host, all clients have the address \(address) in "
            + "locks, connection limits and the audit log. Name the proxy there (127.0.0.1), and let it set X-Forwarded-For"
    }

    /// What is wrong with the settings, apart from files, and what to give instead.
    package var problems: [String] {
        var problems: [String] = []
        if address.isEmpty || address.contains(where: \.isWhitespace) {
            problems.append("console.address is “\(address)”: give an address of this machine, such as 127.0.0.1")
        } else if !isLoopback, !hasTLS {
            problems.append(
                "console.address is \(address), which other machines can reach, but there is no TLS: passwords would "
                    + "be readable on the network. Set console.certificateFile and console.privateKeyFile, or set "
                    + "console.address to 127.0.0.1 behind a proxy that speaks HTTPS"
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
    /// Whether it is a loopback address, 127.0.0.0/8 or ::1.
    package var isLoopback: Bool { isIPv4 ? low >> 24 & 255 == 127 : high == 0 && low == 1 }
}
