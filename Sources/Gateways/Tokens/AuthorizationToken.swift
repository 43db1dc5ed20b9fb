/// What a message proves itself with: a provider token of APNs or an access token of FCM.
///
/// It has no description, so that a log cannot show it by accident.
struct AuthorizationToken: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// Counts up by one with each token of a key or an account.
    var generation: Int
    /// The value of the header `authorization`.
    var authorization: String

    /// The generation only.
    var description: String { "token \(generation)" }

    /// Nothing of the token.
    var customMirror: Mirror { Mirror(self, children: []) }
}
