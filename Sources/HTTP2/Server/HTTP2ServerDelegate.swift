import NIOCore

/// Receives the events of server connections. Every method is called on the connection's event loop.
package protocol HTTP2ServerDelegate: AnyObject {
    /// A connection is about to open: the handshake is done, and SETTINGS can still be changed.
    func willOpen(_ channel: any Channel, _ settings: inout HTTP2ServerSettings)
    /// A connection has opened; SETTINGS have been sent.
    func opened(_ connection: HTTP2ServerConnection)
    /// Requests are complete; one call covers all of one read. Responses made during the call are flushed after it.
    func received(_ connection: HTTP2ServerConnection, requests: [HTTP2ServerRequest])
    func closed(_ connection: HTTP2ServerConnection)
}

extension HTTP2ServerDelegate {
    /// Does not change the settings.
    package func willOpen(_ channel: any Channel, _ settings: inout HTTP2ServerSettings) {}
}
