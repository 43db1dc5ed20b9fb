#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An HTTP proxy that connections go through, in a tunnel opened with CONNECT (RFC 9110 section 9.3.6).
package struct HTTP2Proxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The proxy's name or IP address.
    package let host: String
    package let port: Int
    /// The value of `Proxy-Authorization`; nil for none.
    let authorization: String?

    /// Makes a proxy; a login and password are sent with Basic authentication (RFC 7617).
    package init(host: String, port: Int, login: String = "", password: String = "") {
        self.host = host
        self.port = port
        let pair = Data("\(login):\(password)".utf8)
        authorization = login.isEmpty && password.isEmpty ? nil : "Basic " + pair.base64EncodedString()
    }

    /// `host:port`, with an IPv6 address in brackets, without the credentials.
    package var description: String { Self.authority(host, port) }

    /// Omits the credentials.
    package var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }

    /// `host:port`, as in a request line.
    static func authority(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
