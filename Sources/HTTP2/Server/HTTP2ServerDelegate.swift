import NIOCore

/// What a server connection tells its owner; every method is called on the connection's event loop.
public protocol HTTP2ServerDelegate: AnyObject {
    /// A connection is about to be there: the handshake is done and SETTINGS can still be changed.
    func willOpen(_ channel: any Channel, _ settings: inout HTTP2ServerSettings)
    /// A connection is there; SETTINGS have been sent.
    func opened(_ connection: HTTP2ServerConnection)
    /// Complete requests: one call for all that one read brought. Answers given inside are flushed afterwards.
    func received(_ connection: HTTP2ServerConnection, requests: [HTTP2ServerRequest])
    /// The connection is gone.
    func closed(_ connection: HTTP2ServerConnection)
}

extension HTTP2ServerDelegate {
    /// Leaves the settings as they are.
    public func willOpen(_ channel: any Channel, _ settings: inout HTTP2ServerSettings) {}
}
