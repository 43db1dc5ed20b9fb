import PushCore

/// What a gateway tells its owner; every method is called on the gateway's event loop.
public protocol GatewayDelegate: AnyObject, Sendable {
    /// Messages of a batch have their outcomes.
    ///
    /// Called once for each read and batch, before the stream slots of these messages are used again.
    ///
    /// - Parameters:
    ///   - outcomes: one for each settled message, in the order in which they were settled.
    ///   - latencyMicroseconds: for each of the outcomes the time from writing the request to its end; 0 if it was never
    ///     written.
    func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32])

    /// Messages of a batch have their outcomes; for owners that do not ask for latencies.
    func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome])

    /// Something happened that concerns more than a message: the gateway, its connections, or the whole application.
    func gatewayEvent(_ event: GatewayEvent)
}

extension GatewayDelegate {
    /// Leaves the latencies out.
    public func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        settled(batch, outcomes)
    }

    /// Does nothing, for owners that take outcomes together with latencies.
    public func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome]) {}
}
