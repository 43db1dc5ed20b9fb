import Gateways
import Logging
import NIOCore
import ProcessProtocol
import PushCore
import Synchronization

/// What the gateway tells and asks; all of it on the event loop.
extension Sender {
    func departing(_ departures: [GatewayDeparture]) -> Bool {
        let now = clock.nowMilliseconds
        let journal = desk.withLock { $0.departing(departures, now: now, isLeaseValid: { lease.isValid }) }
        guard let journal, write(journal) else { return false }
        CrashPoint.afterIntent.reached()
        return true
    }

    func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        latencies.withLock { window in
            for latency in latencyMicroseconds where latency > 0 { window.record(latency) }
        }
        if trouble.withLock({ $0.application != nil }), outcomes.contains(where: { $0.outcomeClass == .accepted }) {
            trouble.withLock { $0.application = nil }
        }
        perform(.settled(batchID: batch.id, outcomes: outcomes))
        CrashPoint.afterAnswer.reached()
    }

    func gatewayEvent(_ event: GatewayEvent) {
        switch event.kind {
        case .connected, .recovered, .tokenRenewed:
            logger.info("\(event.message)")
            trouble.withLock { $0.connection = nil }
        case .goAway, .connectionLost:
            logger.notice("\(event.message)")
        case .unproved:
            logger.warning("\(event.message)")
            trouble.withLock { $0.note(event) }
        case .unreachable, .untrusted, .tokenUnavailable:
            logger.warning("\(event.message)")
            trouble.withLock { $0.connection = event }
        case .applicationThrottled:
            logger.warning("\(event.message)")
            trouble.withLock { $0.application = event }
            pause(milliseconds: event.retryInMilliseconds ?? 60_000)
        case .applicationStopped:
            logger.error("\(event.message)")
            trouble.withLock { $0.application = event }
            perform(.applicationStopped)
        }
    }

    /// Says why every message would fail, and has the child leave.
    func openCircuit(_ reason: String, _ holdsTokenEffects: Bool) {
        control.hurry(.circuitOpen)
        // The gateway says more about an answer in an event that follows it in the same turn of the loop.
        let message = eventLoop.submit { () -> String in
            let event = self.trouble.withLock { $0.application }
            let stop = event?.kind == .applicationStopped ? event : nil
            return holdsTokenEffects ? reason : stop?.message ?? "the gateway refuses every message: \(reason)"
        }
        circuit.open(
            remedy: holdsTokenEffects ? HealthReporter.mixUpRemedy : HealthReporter.stopRemedy,
            holdsTokenEffects: holdsTokenEffects
        ) { try await message.get() }
        claimSignal.fire()
    }
}
