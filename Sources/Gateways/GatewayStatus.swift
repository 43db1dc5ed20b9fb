/// A gateway's figures at one moment.
public struct GatewayStatus: Sendable, Hashable {
    /// Connections that are ready for messages.
    public var connections: Int
    /// Messages on the wire without an answer.
    public var streamsInFlight: Int
    /// Messages that wait for a stream, a connection or an access token.
    public var queued: Int
    /// How many messages may be on the wire at once, over all connections.
    public var streamLimit: Int

    /// Makes figures; what is left out is 0.
    public init(connections: Int = 0, streamsInFlight: Int = 0, queued: Int = 0, streamLimit: Int = 0) {
        self.connections = connections
        self.streamsInFlight = streamsInFlight
        self.queued = queued
        self.streamLimit = streamLimit
    }
}
