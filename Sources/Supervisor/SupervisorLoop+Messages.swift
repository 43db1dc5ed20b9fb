import ProcessProtocol
import Store
import Synchronization

extension SupervisorLoop {
    /// Looks for messages that no child has been told of yet.
    func lookForMessages(_ store: Store) async throws -> Duration {
        let parts = try await store.readyMessageParts()
        let (look, isAsleep) = wakefulness.withLock { ($0.saw(parts, at: .now), $0.isAsleep) }
        say(isAsleep: isAsleep)
        if !look.parts.isEmpty { tell(.messages(look.parts)) }
        if look.looksForWork { events.work.fire() }
        return look.pause ?? pollInterval
    }

    /// A caller has created a message and notified this host, because its row said that it sleeps.
    func messageCame() {
        wakefulness.withLock { $0.wake(at: .now) }
        say(isAsleep: false)
        tell(.wake(detail: SupervisorMessage.messageDetail))
        events.message.fire()
    }

    /// Updates the row of this host at once.
    private func say(isAsleep: Bool) {
        guard condition.current.isAsleep != isAsleep else { return }
        condition.update { $0.isAsleep = isAsleep }
        events.heartbeat.fire()
    }

    /// Opens new days of continuous deliveries and ends old ones.
    func tendDeliveries(_ store: Store) async throws -> Duration {
        try await store.tendDeliveries(limit: Self.restLimit) >= Self.restLimit ? .zero : pollInterval
    }

    /// Tells the plan which kinds may get a message at any moment.
    func lookForStandingKinds(_ store: Store) async throws {
        let kinds = try await store.standingKinds()
        standing.withLock { $0 = Set(kinds) }
        tell(.standing(kinds))
    }
}
