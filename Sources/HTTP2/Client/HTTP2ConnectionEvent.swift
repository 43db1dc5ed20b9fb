/// An event of one of a client's connections.
package enum HTTP2ConnectionEvent: Sendable {
    /// A connection is ready: TLS negotiated `h2`, and the server's first SETTINGS frame was received.
    case opened(address: String)
    /// An attempt to connect failed; the next one starts after the delay.
    case dialFailed(reason: String, attempt: Int, nextDelayMilliseconds: Int64)
    /// The server's limit of concurrent streams changed.
    case limitChanged(Int)
    /// The maximum number of requests on the wire, over all connections, changed.
    case capacityChanged(Int)
    /// The server sent GOAWAY. APNs puts a JSON object with the reason into the debug data, even with NO_ERROR.
    ///
    /// `wasInUse` is false for a connection that already took no more requests, such as a replaced one.
    case goAway(code: HTTP2ErrorCode, lastStreamID: Int32, debugData: [UInt8], wasInUse: Bool)
    /// A connection ended. `reason` is nil for an orderly end.
    case closed(reason: String?)
}
