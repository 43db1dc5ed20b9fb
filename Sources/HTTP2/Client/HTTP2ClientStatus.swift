/// A client's figures at one moment.
public struct HTTP2ClientStatus: Sendable {
    /// Connections that are ready for requests.
    public var connections: Int
    /// Requests on the wire without an answer.
    public var streamsInFlight: Int
    /// Requests that wait for a stream.
    public var queued: Int
    /// The sum of the ready connections' limits of concurrent streams.
    public var streamLimit: Int
}
