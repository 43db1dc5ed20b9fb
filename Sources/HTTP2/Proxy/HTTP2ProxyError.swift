/// Why there is no way through a proxy.
public struct HTTP2ProxyError: Error, Sendable, CustomStringConvertible {
    /// Which proxy, which target, and why; nothing of the login.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
