/// What a client tells its owner; every method is called on the client's event loop.
public protocol HTTP2ClientDelegate: AnyObject, Sendable {
    /// Requests are about to leave: one call for all that a connection gets at once, before any of their bytes exists.
    ///
    /// They are announced once, in the order in which they were submitted, and each of them gets a stream at once. (If the
    /// connection runs out of stream ids just then, the rest of them waits for another one and is not announced again.)
    /// What the owner submits meanwhile is queued.
    ///
    /// - Returns: false to keep them: they, and all others that wait, come back as *unprocessed* (`cancelled`), in a task of
    ///   the event loop of its own.
    func departing(_ requests: [HTTP2Departure]) -> Bool
    /// Requests have ended: one call for all that one read settled, before their stream slots are used again.
    func completed(_ completions: [HTTP2Completion])
    /// Something happened to a connection.
    func connectionEvent(_ event: HTTP2ConnectionEvent)
}

extension HTTP2ClientDelegate {
    /// Lets all requests leave.
    public func departing(_ requests: [HTTP2Departure]) -> Bool { true }
}
