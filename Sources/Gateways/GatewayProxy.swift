import CurlClient
import HTTP2
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The HTTP proxy for gateways and token endpoints, and the hosts that are reached without it.
package struct GatewayProxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The proxy's name or IP address.
    package var host: String
    package var port: Int
    private let login: String
    private let password: String
    /// Names of hosts that are reached directly; `*` matches anything.
    package var direct: [String]

    /// Makes a proxy; an empty login and password mean that it needs none.
    package init(host: String, port: Int, login: String = "", password: String = "", direct: [String] = []) {
        self.host = host
        self.port = port
        self.login = login
        self.password = password
        self.direct = direct
    }

    /// `host:port`, without the login.
    package var description: String { GatewayAddress(host: host, port: port).description }

    /// Shows none of the login.
    package var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port, "direct": direct]) }

    /// Whether a host is reached through the proxy.
    package func isUsed(for target: String) -> Bool {
        !direct.contains { Self.matches(target.lowercased().utf8[...], Array($0.lowercased().utf8)[...]) }
    }

    /// The proxy in the HTTP/2 client's form; nil if the host is reached directly.
    package func http2(for target: String) -> HTTP2Proxy? {
        isUsed(for: target) ? HTTP2Proxy(host: host, port: port, login: login, password: password) : nil
    }

    /// The proxy in libcurl's form, for the host of an address.
    package func curl(for target: String) -> CurlProxy {
        guard isUsed(for: target) else { return .none }
        let name = login.isEmpty && password.isEmpty ? "" : "\(Self.escaped(login)):\(Self.escaped(password))@"
        return .url("http://\(name)\(description)")
    }

    /// The host of an `http` or `https` address; the whole text if it has none.
    package static func host(of address: String) -> String {
        URL(string: address)?.host() ?? address
    }

    /// Encodes everything but letters and digits as %XX, so that no character of a password ends it.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    /// Whether a name matches a pattern in which `*` stands for any number of characters.
    private static func matches(_ name: some BidirectionalCollection<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        let name = Array(name)
        // fits[i]: the first i bytes of the name match the pattern read so far.
        var fits = [Bool](repeating: false, count: name.count + 1)
        fits[0] = true
        for byte in pattern {
            var next = [Bool](repeating: false, count: name.count + 1)
            if byte == UInt8(ascii: "*") {
                var any = false
                for index in fits.indices {
                    any = any || fits[index]
                    next[index] = any
                }
            } else {
                for index in name.indices where fits[index] && name[index] == byte { next[index + 1] = true }
            }
            fits = next
        }
        return fits[name.count]
    }
}

extension NMACSettings {
    /// The value of the address setting that makes the process read the proxy from the environment.
    static let fromEnvironment = "environment"

    /// The proxy that the settings name; nil if none is to be used.
    ///
    /// - Parameter environment: the process's variables, used only if the settings say so.
    package func gatewayProxy(environment: [String: String]) throws(SettingsError) -> GatewayProxy? {
        guard useHTTPProxy else { return nil }
        let separators: (Character) -> Bool = { $0 == ";" || $0 == "," || $0.isWhitespace }
        let direct = proxyHTTP.override.split(whereSeparator: separators).map(String.init)
        if proxyHTTP.address == Self.fromEnvironment { return try Self.proxy(environment, direct) }
        guard !proxyHTTP.address.isEmpty, !proxyHTTP.address.contains(where: { "/@ ".contains($0) }) else {
            throw SettingsError(
                .range,
                "nmac.proxyHTTP.address is “\(SecretRedaction.userInfo(proxyHTTP.address))” and nmac.useHTTPProxy is true: give the name or IP address of the proxy alone (the port is nmac.proxyHTTP.port), or \"\(Self.fromEnvironment)\" to take it from the variable https_proxy"
            )
        }
        return GatewayProxy(
            host: proxyHTTP.address,
            port: proxyHTTP.port,
            login: proxyHTTP.login,
            password: proxyHTTP.password,
            direct: direct
        )
    }

    /// The proxy of the usual variables; nil if they name none.
    private static func proxy(_ environment: [String: String], _ direct: [String]) throws(SettingsError)
        -> GatewayProxy?
    {
        let names = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        guard let name = names.first(where: { environment[$0]?.isEmpty == false }), let text = environment[name] else {
            return nil
        }
        let address = text.contains("://") ? text : "http://" + text
        guard let url = URL(string: address), url.scheme == "http", let host = url.host(), !host.isEmpty else {
            throw SettingsError(
                .range,
                "the variable \(name) names no HTTP proxy, and nmac.proxyHTTP.address says to use it: set it to http://host:port"
            )
        }
        let exceptions = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
            .split(whereSeparator: { $0 == "," || $0.isWhitespace })
            // ".example.com" and "example.com" both mean the domain and all its subdomains.
            .flatMap { item in
                let name = item.first == "." ? item.dropFirst() : item
                return name == "*" ? ["*"] : [String(name), "*.\(name)"]
            }
        return GatewayProxy(
            host: host,
            // curl's default proxy port.
            port: url.port ?? 1_080,
            login: url.user(percentEncoded: false) ?? "",
            password: url.password(percentEncoded: false) ?? "",
            direct: direct + exceptions
        )
    }
}
