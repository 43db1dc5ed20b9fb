/// What an event says about the gateway's health.
package enum HealthSign: String, Sendable, Hashable, Codable {
    /// It is reachable and appears to accept messages. Where each message gets an answer, the answers show this and no
    /// event does.
    case well
    /// The gateway, or the path to it, has failed.
    case failing
}

/// An event that concerns a gateway or the whole application, not one message.
package struct GatewayEvent: Sendable, Hashable, CustomStringConvertible {
    /// The kind of event.
    package enum Kind: String, Sendable, Hashable, Codable {
        /// A connection is ready for messages.
        case connected
        /// The gateway or the token endpoint accepts requests again after trouble.
        case recovered
        /// No connection could be made; the gateway tries again.
        case unreachable
        /// The TLS handshake failed, usually because the certificate is not trusted.
        case untrusted
        /// A connection ended early; the gateway dials again.
        case connectionLost
        /// Messages were reported as accepted because the gateway was silent; they were not accepted, or there is no
        /// proof that they were.
        case unproved
        /// The gateway announced the end of a connection.
        case goAway
        /// No access token could be fetched; the gateway tries again and messages wait.
        case tokenUnavailable
        /// A token for the gateway was made or fetched.
        case tokenRenewed
        /// Every message of the application would be refused until an operator acts.
        case applicationStopped
        /// The gateway wants less traffic from the whole project for a while; the process that gets this event pauses
        /// the application.
        case applicationThrottled

        /// What this kind of event says about the gateway's health, unless the gateway's protocol gives it another
        /// meaning.
        package var usualSign: HealthSign? {
            switch self {
            case .unreachable, .untrusted, .connectionLost, .tokenUnavailable: .failing
            case .connected, .recovered, .unproved, .goAway, .tokenRenewed, .applicationStopped, .applicationThrottled:
                nil
            }
        }
    }

    /// The kind of event.
    package var kind: Kind
    /// What it says about the gateway's health; nil for nothing.
    package var sign: HealthSign?
    /// The gateway's own reason, verbatim; empty if there is none.
    package var reason: String
    /// The HTTP status that came with it; 0 for none.
    package var status: Int16
    /// What happened, to which gateway, why, and what to do.
    package var message: String
    /// The message without its momentary details (number of the attempt, time of the next one): the text shown while
    /// the condition lasts.
    package var standing: String
    /// What an operator can do about it; nil for the usual remedy of its kind.
    package var remedy: String?
    /// When the gateway tries again, in milliseconds from now; nil if it does not, or already does.
    package var retryInMilliseconds: Int64?

    package init(
        _ kind: Kind,
        reason: String = "",
        status: Int16 = 0,
        message: String,
        standing: String? = nil,
        remedy: String? = nil,
        retryInMilliseconds: Int64? = nil
    ) {
        self.standing = standing ?? message
        self.remedy = remedy
        self.kind = kind
        sign = kind.usualSign
        self.reason = reason
        self.status = status
        self.message = message
        self.retryInMilliseconds = retryInMilliseconds
    }

    package var description: String { message }
}
