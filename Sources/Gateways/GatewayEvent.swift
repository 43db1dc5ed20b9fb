/// Something that concerns a gateway or the whole application, not one message.
public struct GatewayEvent: Sendable, Hashable, CustomStringConvertible {
    /// What kind of event it is.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// A connection is ready for messages.
        case connected
        /// The gateway or the token endpoint is reachable and willing again after trouble.
        case recovered
        /// No connection came about; the gateway tries again by itself.
        case unreachable
        /// The TLS handshake failed, mostly because the certificate is not trusted.
        case untrusted
        /// A connection ended before its time; the gateway dials again by itself.
        case connectionLost
        /// Messages were reported as accepted because nothing was heard of them, and were not, or nothing proves that they were.
        case unproved
        /// The gateway announced the end of a connection.
        case goAway
        /// No access token could be fetched; the gateway tries again by itself and messages wait.
        case tokenUnavailable
        /// A token for the gateway was made or fetched.
        case tokenRenewed
        /// Every message of the application would be refused until an operator acts.
        case applicationStopped
        /// The gateway wants less from the whole project for a while; whoever hears it pauses the application.
        case applicationThrottled
    }

    /// What kind of event it is.
    public var kind: Kind
    /// The gateway's own reason, word for word; empty when there is none.
    public var reason: String
    /// The HTTP status that came with it; 0 for none.
    public var status: Int16
    /// What happened, to which gateway, why, and what to do.
    public var message: String
    /// When the gateway tries again, in milliseconds from now; nil when it does not or already does.
    public var retryInMilliseconds: Int64?

    /// Makes an event.
    public init(
        _ kind: Kind,
        reason: String = "",
        status: Int16 = 0,
        message: String,
        retryInMilliseconds: Int64? = nil
    ) {
        self.kind = kind
        self.reason = reason
        self.status = status
        self.message = message
        self.retryInMilliseconds = retryInMilliseconds
    }

    /// The message.
    public var description: String { message }
}
