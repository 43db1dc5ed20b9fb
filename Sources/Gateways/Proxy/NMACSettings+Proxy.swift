import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension NMACSettings {
    /// The word in place of an address that has the proxy read from the environment.
    static let fromEnvironment = "environment"

    /// The proxy that the settings name; nil when none is to be used.
    ///
    /// - Parameter environment: the process's variables, looked at only if the settings say so.
    public func gatewayProxy(environment: [String: String]) throws(SettingsError) -> GatewayProxy? {
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

    /// The proxy of the usual variables; nil when they name none.
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
                "the variable \(name) names no HTTP proxy, and nmac.proxyHTTP.address says to use it: give http://host:port"
            )
        }
        let exceptions = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")
            .split(whereSeparator: { $0 == "," || $0.isWhitespace })
            // ".example.com" and "example.com" both mean the domain and all in it.
            .flatMap { item in
                let name = item.first == "." ? item.dropFirst() : item
                return name == "*" ? ["*"] : [String(name), "*.\(name)"]
            }
        return GatewayProxy(
            host: host,
            // curl's default port for proxies.
            port: url.port ?? 1_080,
            login: url.user(percentEncoded: false) ?? "",
            password: url.password(percentEncoded: false) ?? "",
            direct: direct + exceptions
        )
    }
}
