/// Whether messages can be sent now.
enum Authorization: Sendable {
    /// With this token.
    case ready(AuthorizationToken)
    /// Not yet: a token is on its way.
    case waiting
    /// Not before an operator acts.
    case refused(TokenFailure)
}
