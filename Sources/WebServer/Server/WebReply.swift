import HummingbirdCore

/// What a request is answered with.
enum WebReply: Sendable {
    /// One of our short answers.
    case answer(WebAnswer)
    /// What a route of the router made.
    case routed(Response)
}
