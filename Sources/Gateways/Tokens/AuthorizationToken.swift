/// What authorises a message: an APNs provider token or an FCM access token.
///
/// It has no description, so a log cannot show it by accident.
struct AuthorizationToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// Increases by one with each token of a key or an account.
    var generation: Int
    /// The value of the header `authorization`.
    var authorization: String

    /// Shows the generation only.
    var description: String { "token \(generation)" }

    /// Shows none of the token.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whether messages can be sent now.
enum Authorization: Sendable {
    /// Yes, with this token.
    case ready(AuthorizationToken)
    /// Not yet: a token is being fetched.
    case waiting
    /// No, until an operator acts.
    case refused(TokenFailure)
}

/// Why there is no token to send with.
struct TokenFailure: Error, Sendable, Hashable {
    /// What it means for the application.
    enum Kind: Sendable, Hashable {
        /// The token endpoint is unreachable or failing: try again later.
        case unavailable
        /// The credential is refused, or no token can be made from it: only an operator can help.
        case refused
    }

    /// What it means for the application.
    var kind: Kind
    /// The endpoint's error code, verbatim, for example `invalid_grant`; PushMTA's own word if it gave none.
    var reason: String
    /// The HTTP status of the answer; 0 for none.
    var status: Int16 = 0
    /// What happened, to which account, why, and what to do.
    var message: String
    /// How long the endpoint asked to wait, in milliseconds.
    var retryAfterMilliseconds: Int64?
}
