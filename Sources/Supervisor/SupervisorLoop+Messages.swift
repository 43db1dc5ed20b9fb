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
        if look.looksForWork { events.work.fire() }
        return look.pause ?? pollInterval
    }

    /// Somebody has made a message and was told that this host sleeps.
    func messageCame() {
        wakefulness.withLock { $0.wake(at: .now) }
        say(isAsleep: false)
        tell(.wake(detail: SupervisorMessage.messageDetail))
        events.message.fire()
    }

    /// The row of this host says it at once.
    private func say(isAsleep: Bool) {
        guard condition.current.isAsleep != isAsleep else { return }
        condition.update { $0.isAsleep = isAsleep }
        events.heartbeat.fire()
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

/// How often a supervisor looks for messages of continuous deliveries: many times a second while some come, else about once a second,
/// and then it says that it sleeps, so that who makes a message wakes it.
///
/// A notification takes a lock that makes the commits of a database wait for each other; so nobody notifies while somebody looks.
struct Wakefulness: Sendable {
    /// What follows from a look.
    struct Look: Sendable, Equatable {
        /// Parts that children are told to claim.
        var parts: Set<ReadyMessagePart> = []
        /// Somebody should look whether there is a child at all.
        var looksForWork = false
        /// The time to the next look; nil when it is one among many things to look for.
        var pause: Duration?
    }

    /// Between two looks while it is awake: a quarter of the 20 ms in which a message is to be on its way.
    static let lookInterval = Duration.milliseconds(5)
    /// So long after the last message it falls asleep.
    static let timeout = Duration.seconds(10)
    /// So long it goes on looking when it has said that it sleeps: somebody may have read that it is awake and not have committed
    /// yet. A message of a transaction that takes longer still is found by the look of each second.
    static let drowsiness = Duration.seconds(1)
    /// So often children are told again of what they leave lying.
    static let reminderInterval = Duration.milliseconds(250)

    /// Whether it says that it has to be woken.
    private(set) var isAsleep = true
    private var awakeUntil: ContinuousClock.Instant?
    private var seen: Set<ReadyMessagePart> = []
    private var remindedAt: ContinuousClock.Instant?

    /// Somebody said that there is a message.
    mutating func wake(at now: ContinuousClock.Instant) {
        awakeUntil = now.advanced(by: Self.timeout)
        isAsleep = false
    }

    /// It looked, and these parts were ready.
    mutating func saw(_ parts: Set<ReadyMessagePart>, at now: ContinuousClock.Instant) -> Look {
        var look = Look(parts: parts.subtracting(seen))
        seen = parts
        if !look.parts.isEmpty { wake(at: now) }
        if !parts.isEmpty, remindedAt.map({ $0.advanced(by: Self.reminderInterval) <= now }) ?? true {
            remindedAt = now
            look.parts = parts
            look.looksForWork = true
        }
        guard let end = awakeUntil else { return look }
        isAsleep = now >= end
        if now < end.advanced(by: Self.drowsiness) { look.pause = Self.lookInterval } else { awakeUntil = nil }
        return look
    }
}
