import PushCore

/// What a gateway tells its owner; every method is called on the gateway's event loop.
package protocol GatewayDelegate: AnyObject, Sendable {
    /// Messages are about to leave: one call for all messages that a connection gets at once, before any byte is
    /// written.
    ///
    /// Each message is announced every time before it leaves. A call never announces more messages than the connection
    /// has free streams. An announced message that does not leave after all is resolved as unprocessed. Batches that
    /// the owner submits meanwhile wait.
    ///
    /// - Returns: false if they must not leave. After this call, they and all messages that wait for a stream after
    ///   them are resolved as unprocessed with `neverLeft`. An owner that submits them again at once is asked again at
    ///   once.
    func aboutToSend(_ departures: [GatewayDeparture]) -> Bool

    /// Messages of a batch were resolved.
    ///
    /// Called once for each read and batch, before the stream slots of these messages are used again.
    ///
    /// - Parameters:
    ///   - outcomes: one for each resolved message, in the order in which they were resolved.
    ///   - latencyMicroseconds: for each outcome, the time from writing the request to its end; 0 if it was never
    ///     written.
    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32])

    /// Messages of several batches were resolved: all outcomes of one read. Otherwise like the method for one batch.
    ///
    /// One call is cheaper than one per batch: where latencies differ, a single read brings answers of many batches.
    func resolved(_ batches: [ResolvedBatch])

    /// Messages of a batch were resolved; for owners that do not need latencies.
    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome])

    /// The maximum number of messages on the wire, over all connections, has changed.
    func capacityChanged(_ streams: Int)

    /// The gateway explained why it finally refused messages.
    func refused(_ texts: Set<RefusalText>)

    /// Something happened that concerns more than one message: the gateway, its connections, or the whole application.
    func gatewayEvent(_ event: GatewayEvent)
}

extension GatewayDelegate {
    /// Does nothing, for owners with a window of fixed size.
    package func capacityChanged(_ streams: Int) {}

    /// Does nothing, for owners that do not need explanations.
    package func refused(_ texts: Set<RefusalText>) {}

    /// Reports one batch after the other.
    package func resolved(_ batches: [ResolvedBatch]) {
        for batch in batches { resolved(batch.batch, batch.outcomes, latencyMicroseconds: batch.latencies) }
    }

    /// Lets all messages leave.
    package func aboutToSend(_ departures: [GatewayDeparture]) -> Bool { true }

    /// Drops the latencies.
    package func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        resolved(batch, outcomes)
    }

    /// Does nothing, for owners that take outcomes with latencies.
    package func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome]) {}
}
