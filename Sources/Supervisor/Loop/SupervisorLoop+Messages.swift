import ProcessProtocol
import Store
import Synchronization

extension SupervisorLoop {
    /// Looks whether a message waits that nobody has been told of.
    func lookForMessages(_ store: Store) async throws -> Duration {
        let parts = try await store.readyMessageParts()
        let (look, isAsleep) = wakefulness.withLock { ($0.saw(parts, at: .now), $0.isAsleep) }
        say(isAsleep: isAsleep)
        if !look.parts.isEmpty { tell(.messages(look.parts)) }
        if look.looksForWork { workBell.ring() }
        return look.pause ?? pollInterval
    }

    /// Somebody has made a message and was told that this host sleeps.
    func messageCame() {
        wakefulness.withLock { $0.wake(at: .now) }
        say(isAsleep: false)
        tell(.wake(detail: SupervisorMessage.messageDetail))
        messageBell.ring()
    }

    /// The row of this host says it at once.
    private func say(isAsleep: Bool) {
        guard condition.current.isAsleep != isAsleep else { return }
        condition.update { $0.isAsleep = isAsleep }
        beatBell.ring()
    }

    /// Opens new days of continuous deliveries, and ends the old ones.
    func tendDeliveries(_ store: Store) async throws -> Duration {
        try await store.tendDeliveries(limit: Self.restLimit) >= Self.restLimit ? .zero : pollInterval
    }

    /// Tells the plan for which kinds a message may come at any moment.
    func lookForStandingKinds(_ store: Store) async throws {
        let kinds = try await store.standingKinds().map { kind in
            ChildKind(applicationID: kind.applicationID, accountID: kind.accountID, connector: kind.connector)
        }
        standing.withLock { $0 = Set(kinds) }
        tell(.standing(kinds))
    }
}
