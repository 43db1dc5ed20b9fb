/// What a client tells its owner; every method is called on the client's event loop.
public protocol HTTP2ClientDelegate: AnyObject, Sendable {
    /// Requests have ended: one call for all that one read settled, before their stream slots are used again.
    func completed(_ completions: [HTTP2Completion])
    /// Something happened to a connection.
    func connectionEvent(_ event: HTTP2ConnectionEvent)
}
