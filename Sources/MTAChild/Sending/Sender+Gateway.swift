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
            if event.kind != .tokenRenewed, gateway?.takesInSilence == true {
                eventLoop.execute { self.perform(.gatewayReached) }
            }
        case .goAway, .connectionLost:
            logger.notice("\(event.message)")
            if event.kind == .connectionLost, gateway?.takesInSilence == false { failed(event) }
        case .unproved:
            logger.warning("\(event.message)")
            trouble.withLock { $0.note(event) }
        case .unreachable, .untrusted, .tokenUnavailable:
            logger.warning("\(event.message)")
            trouble.withLock { $0.connection = event }
            failed(event)
        case .applicationThrottled:
            logger.warning("\(event.message)")
            trouble.withLock { $0.application = event }
        case .applicationStopped:
            logger.error("\(event.message)")
            trouble.withLock { $0.application = event }
            perform(.applicationStopped)
        }
    }

    /// The way to the gateway has failed. What is told in the middle of a call from the gateway is taken up after it.
    private func failed(_ event: GatewayEvent) {
        let reason = event.reason.isEmpty ? event.kind.rawValue : event.reason
        eventLoop.execute { self.perform(.gatewayFailed(reason)) }
    }

    /// Says that the gateway takes nothing, and has the child leave: one of all hosts goes on trying.
    func enterTrouble(_ reason: String, _ notBefore: Duration?) {
        control.hurry(.gatewayTrouble)
        troubleReport.enter(reason: gatewayTrouble?.message ?? reason, notBefore: notBefore)
        claimSignal.fire()
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
