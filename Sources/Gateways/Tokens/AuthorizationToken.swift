/// What a message proves itself with: a provider token of APNs or an access token of FCM.
///
/// It has no description, so that a log cannot show it by accident.
struct AuthorizationToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// Counts up by one with each token of a key or an account.
    var generation: Int
    /// The value of the header `authorization`.
    var authorization: String

    /// Shows the generation only.
    var description: String { "token \(generation)" }

    /// Shows nothing of the token.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whether messages can be sent now.
enum Authorization: Sendable {
    /// With this token.
    case ready(AuthorizationToken)
    /// Not yet: a token is on its way.
    case waiting
    /// Not before an operator acts.
    case refused(TokenFailure)
}

/// Why there is no token to send with.
struct TokenFailure: Error, Sendable, Hashable {
    /// What it means for the application.
    enum Kind: Sendable, Hashable {
        /// The token endpoint cannot be reached or is in trouble: try again later.
        case unavailable
        /// The credential is refused, or no token can be made of it: only an operator can help.
        case refused
    }

    /// What it means for the application.
    var kind: Kind
    /// The endpoint's error code, word for word, for example `invalid_grant`; a word of ours where it gave none.
    var reason: String
    /// The HTTP status of the answer; 0 for none.
    var status: Int16 = 0
    /// What happened, to which account, why, and what to do.
    var message: String
    /// How long the endpoint asked to wait, in milliseconds.
    var retryAfterMilliseconds: Int64?
}
