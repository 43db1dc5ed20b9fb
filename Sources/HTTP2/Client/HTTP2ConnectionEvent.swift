/// Something that happened to one of a client's connections.
public enum HTTP2ConnectionEvent: Sendable {
    /// A connection is ready: TLS agreed on `h2` and the server's first SETTINGS frame came.
    case opened(address: String)
    /// An attempt to connect failed; the next one starts after the delay.
    case dialFailed(reason: String, attempt: Int, nextDelayMilliseconds: Int64)
    /// The server's limit of concurrent streams changed.
    case limitChanged(Int)
    /// The server sent GOAWAY. APNs puts a JSON object with the reason into the debug data, even with NO_ERROR.
    ///
    /// `wasInUse` is false for a connection that took no more requests already, such as one that was replaced.
    case goAway(code: HTTP2ErrorCode, lastStreamID: Int32, debugData: [UInt8], wasInUse: Bool)
    /// A connection ended. `reason` is nil for one that ended as it should.
    case closed(reason: String?)
}
