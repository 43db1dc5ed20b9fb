import PushCore

/// What a gateway tells its owner; every method is called on the gateway's event loop.
public protocol GatewayDelegate: AnyObject, Sendable {
    /// Messages are about to leave: one call for all that a connection gets at once, before a byte of them is written.
    ///
    /// Each message is announced before each time that it leaves; there are never more than the connection has free streams.
    /// A message that is announced and then does not leave after all has an unprocessed outcome, as every other one.
    /// Batches that the owner submits meanwhile wait.
    ///
    /// - Returns: false if they must not leave: they, and all that waits for a stream behind them, are settled as unprocessed
    ///   with `neverLeft`, after this call. An owner that submits them again at once will be asked again at once.
    func departing(_ departures: [GatewayDeparture]) -> Bool

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
    /// Lets all messages leave.
    public func departing(_ departures: [GatewayDeparture]) -> Bool { true }

    /// Leaves the latencies out.
    public func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        settled(batch, outcomes)
    }

    /// Does nothing, for owners that take outcomes together with latencies.
    public func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome]) {}
}
