/// Receives a client's results and events. Every method is called on the client's event loop.
package protocol HTTP2ClientDelegate: AnyObject, Sendable {
    /// Requests are about to be sent. One call announces all that the connections get at once, before any byte is
    /// written.
    ///
    /// Each request is announced once, in the order of submission, and gets a stream at once. (If the connection runs
    /// out of stream ids just then, the rest waits for another connection and is not announced again.) Batches
    /// submitted during the call are queued.
    ///
    /// - Returns: false to withhold them. They and all other waiting requests are then returned as *unprocessed*
    ///   (`cancelled`), in a separate task of the event loop.
    func aboutToSend(_ requests: [HTTP2Departure]) -> Bool
    /// Requests have ended. One call covers all that one read resolved, before their stream slots are reused.
    func completed(_ completions: [HTTP2Completion])
    /// A connection event.
    func connectionEvent(_ event: HTTP2ConnectionEvent)
}

extension HTTP2ClientDelegate {
    /// Lets all requests be sent.
    package func aboutToSend(_ requests: [HTTP2Departure]) -> Bool { true }
}
