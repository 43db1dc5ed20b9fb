import Gateways
import Logging
import NIOCore
import ProcessEvents
import ProcessProtocol
import PushCore
import Synchronization

/// The calls of the gateway's delegate; all run on the event loop.
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

    /// Measures how long single messages took to get an answer. Other messages have no due time of their own.
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

    /// Called in the middle of the gateway's work, so the change is handled after it.
    func capacityChanged(_ streams: Int) {
        eventLoop.execute { self.perform(.capacityChanged(streams)) }
    }

    func refused(_ texts: Set<RefusalText>) {
        for text in refusals.withLock({ $0.news(texts) }) {
            logger.warning(
                """
                the gateway permanently refuses messages of delivery \(text.deliveryID) (\(text.reason)): \
                \(text.words)
                """,
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
                logger.notice("\(event.message), after \(seconds) s and \(end.attempts) failed attempts")
            } else {
                logger.info("\(event.message)")
            }
        case .goAway, .connectionLost:
            logger.notice("\(event.message)")
        case .unproved:
            logger.warning("\(event.message)")
            trouble.withLock { $0.note(event) }
        case .unreachable, .untrusted, .tokenUnavailable:
            let isNews = trouble.withLock { $0.failed(event) }
            logger.log(level: isNews ? .warning : .debug, "\(event.message)")
        case .applicationThrottled:
            logger.warning("\(event.message)")
            trouble.withLock { $0.application = event }
        case .applicationStopped:
            logger.error("\(event.message)")
            trouble.withLock { $0.application = event }
            perform(.applicationStopped)
        }
        note(event)
    }

    /// Notes what an event says about the gateway's health. The gateway calls this in the middle of its work, so the
    /// event is handled after it.
    private func note(_ event: GatewayEvent) {
        switch event.sign {
        case .well: eventLoop.execute { self.perform(.gatewayReached) }
        case .failing:
            let reason = event.reason.isEmpty ? event.kind.rawValue : event.reason
            eventLoop.execute { self.perform(.gatewayFailed(reason)) }
        case nil: break
        }
    }

    /// Reports that the gateway takes nothing: one child of all hosts probes, and the others wait for it.
    func enterTrouble(_ reason: String, _ notBefore: Duration?) {
        database.troubleReport.enter(reason: gatewayTrouble?.standing ?? reason, notBefore: notBefore)
        signals.claim.fire()
    }

    /// Reports why every message would fail, and makes the child end.
    func openCircuit(_ reason: String, _ holdsTokenEffects: Bool) {
        control.fastShutdown(.circuitOpen)
        // The gateway explains an answer in an event that follows it in the same turn of the loop.
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
