/// The ports on which connections are accepted.
public struct WebPorts: Sendable, Hashable {
    /// Plain HTTP.
    public var plain: Int?
    /// HTTPS.
    public var tls: Int?
}
