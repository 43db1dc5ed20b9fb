import Gateways
import Logging
import NIOCore
import ProcessEvents
import ProcessProtocol
import PushCore
import Synchronization

/// What the gateway tells and asks; all of it on the event loop.
extension Sender {
    func aboutToSend(_ departures: [GatewayDeparture]) -> Bool {
        guard let journal = intents(of: departures), write(journal) else { return false }
        CrashPoint.afterIntent.reached()
        return true
    }

    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        resolved([ResolvedBatch(batch: batch, outcomes: outcomes, latencies: latencyMicroseconds)])
    }

    func resolved(_ batches: [ResolvedBatch]) {
        measures.latencies.withLock { window in
            for batch in batches { for latency in batch.latencies where latency > 0 { window.record(latency) } }
        }
        measureWaits(batches)
        if trouble.withLock({ $0.application != nil }),
            batches.contains(where: { $0.outcomes.contains { $0.outcomeClass == .accepted } })
        {
            trouble.withLock { $0.application = nil }
        }
        perform(batches.map { .resolved(batchID: $0.batch.id, outcomes: $0.outcomes) })
        CrashPoint.afterAnswer.reached()
    }

    /// How long single messages have taken that got an answer. Those of deliveries have no time of their own.
    private func measureWaits(_ batches: [ResolvedBatch]) {
        guard batches.contains(where: { $0.batch.dueMilliseconds > 0 }) else { return }
        let now = clock.nowMilliseconds
        measures.waits.withLock { waits in
            for batch in batches where batch.batch.dueMilliseconds > 0 {
                let time = Duration.milliseconds(now - batch.batch.dueMilliseconds)
                for latency in batch.latencies where latency > 0 { waits.record(time) }
            }
        }
    }

    /// Told in the middle of the gateway's work: taken up after it.
    func capacityChanged(_ streams: Int) {
        eventLoop.execute { self.perform(.capacityChanged(streams)) }
    }

    func refused(_ texts: Set<RefusalText>) {
        for text in refusals.withLock({ $0.news(texts) }) {
            logger.warning(
                "the gateway refuses messages of delivery \(text.deliveryID) for good (\(text.reason)): \(text.words)",
                metadata: ["delivery": "\(text.deliveryID)"]
            )
            database.noteRefusal(text)
        }
    }

    func gatewayEvent(_ event: GatewayEvent) {
        switch event.kind {
        case .connected, .recovered, .tokenRenewed:
            if let end = trouble.withLock({ $0.reached() }) {
                let seconds = end.time.components.seconds
                logger.notice("\(event.message), after \(seconds) s in which \(end.attempts) attempts failed")
            } else {
                logger.info("\(event.message)")
            }
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
            let isNews = trouble.withLock { $0.failed(event) }
            logger.log(level: isNews ? .warning : .debug, "\(event.message)")
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

    /// Says that the gateway takes nothing: one child of all hosts goes on trying, and the others wait for it.
    func enterTrouble(_ reason: String, _ notBefore: Duration?) {
        database.troubleReport.enter(reason: gatewayTrouble?.standing ?? reason, notBefore: notBefore)
        signals.claim.fire()
    }

    /// Says why every message would fail, and has the child leave.
    func openCircuit(_ reason: String, _ holdsTokenEffects: Bool) {
        control.fastShutdown(.circuitOpen)
        // The gateway says more about an answer in an event that follows it in the same turn of the loop.
        let message = eventLoop.submit { () -> String in
            let event = self.trouble.withLock { $0.application }
            let stop = event?.kind == .applicationStopped ? event : nil
            return holdsTokenEffects ? reason : stop?.message ?? "the gateway refuses every message: \(reason)"
        }
        database.circuit.open(
            remedy: holdsTokenEffects ? HealthReporter.mixUpRemedy : HealthReporter.stopRemedy,
            holdsTokenEffects: holdsTokenEffects
        ) { try await message.get() }
        signals.claim.fire()
    }
}
