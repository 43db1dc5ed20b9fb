/// A snapshot of a gateway's figures.
package struct GatewayStatus: Sendable, Hashable {
    /// Connections that are ready for messages.
    package var connections: Int
    /// Messages on the wire without an answer.
    package var streamsInFlight: Int
    /// Messages that wait for a stream, a connection or an access token.
    package var queued: Int
    /// How many messages may be on the wire at once, over all connections.
    package var streamLimit: Int

    /// How many connections it wants; the number of ready ones if it is fixed.
    package var wanted: Int
    /// Why it wants this many, in a word; empty if the number is fixed.
    package var reason: String
    /// The maximum number of connections; equal to ``wanted`` if it is fixed.
    package var maximum: Int

    /// Makes figures. Omitted values are 0.
    package init(
        connections: Int = 0,
        streamsInFlight: Int = 0,
        queued: Int = 0,
        streamLimit: Int = 0,
        wanted: Int? = nil,
        reason: String = "",
        maximum: Int? = nil
    ) {
        self.connections = connections
        self.wanted = wanted ?? connections
        self.maximum = maximum ?? wanted ?? connections
        self.reason = reason
        self.streamsInFlight = streamsInFlight
        self.queued = queued
        self.streamLimit = streamLimit
    }
}
