/// An access token as the token endpoint gave it.
struct AccessTokenGrant: Sendable {
    /// The token.
    var token: String
    /// How long it lives, in seconds; nil when the endpoint did not say.
    var expiresInSeconds: Int64?
}
