#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An HTTP proxy that connections go through, by a tunnel that the method CONNECT opens (RFC 9110 section 9.3.6).
public struct HTTP2Proxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The proxy's name or IP address.
    public let host: String
    /// The proxy's TCP port.
    public let port: Int
    /// The value of `Proxy-Authorization`; nil for none.
    let authorization: String?

    /// A proxy; with a login it is told name and password (RFC 7617).
    public init(host: String, port: Int, login: String = "", password: String = "") {
        self.host = host
        self.port = port
        let pair = Data("\(login):\(password)".utf8)
        authorization = login.isEmpty && password.isEmpty ? nil : "Basic " + pair.base64EncodedString()
    }

    /// `host:port`, an IPv6 address in brackets, nothing of the login.
    public var description: String { Self.authority(host, port) }

    /// Nothing of the login.
    public var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }

    /// `host:port` as a request line has it.
    static func authority(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
