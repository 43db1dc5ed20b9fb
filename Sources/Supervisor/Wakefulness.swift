import Store

/// How often a supervisor looks for messages of continuous deliveries: many times a second while some arrive, otherwise
/// about once a second. It then announces that it sleeps, so that the author of a message wakes it.
///
/// A notification takes a lock that makes all commits of a database wait for each other. So callers notify only a
/// supervisor that sleeps.
struct Wakefulness: Sendable {
    /// The result of a look.
    struct Look: Sendable, Equatable {
        /// Parts that children should claim now.
        var parts: Set<ReadyMessagePart> = []
        /// Whether to look for work, as there may be no child for these parts.
        var looksForWork = false
        /// The time until the next look; nil for the usual poll interval.
        var pause: Duration?
    }

    /// The time between two looks while awake: a quarter of the 20 ms within which a message should be on its way.
    static let lookInterval = Duration.milliseconds(5)
    /// The time from the last message until it falls asleep.
    static let timeout = Duration.seconds(10)
    /// How long it goes on looking after it announced that it sleeps: a transaction may have read that it is awake and
    /// not have committed yet. The poll of every second finds the message of a longer transaction.
    static let drowsiness = Duration.seconds(1)
    /// How often children are reminded of parts that they have not claimed.
    static let reminderInterval = Duration.milliseconds(250)

    /// Whether the host has to be woken.
    private(set) var isAsleep = true
    private var awakeUntil: ContinuousClock.Instant?
    private var seen: Set<ReadyMessagePart> = []
    private var remindedAt: ContinuousClock.Instant?

    /// A notification announced a message.
    mutating func wake(at now: ContinuousClock.Instant) {
        awakeUntil = now.advanced(by: Self.timeout)
        isAsleep = false
    }

    /// Takes the parts that a look found ready.
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
