import Synchronization

/// Until when this child may believe that nobody has taken its parts, on its own monotonic clock.
///
/// It is read at the very moment when messages get their streams: a process that was stopped for longer than its lease finds
/// it over before any of its timers has run.
final class LeaseClock: Sendable {
    private let goodUntil = Mutex(ContinuousClock.now)

    /// Whether the right to send stands now.
    var isValid: Bool { ContinuousClock.now < goodUntil.withLock { $0 } }

    func extend(until moment: ContinuousClock.Instant) {
        goodUntil.withLock { $0 = max($0, moment) }
    }
}
