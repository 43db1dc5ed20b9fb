import ProcessProtocol
import PushCore

/// Stops a kind whose children die before their first message from being started over and over.
///
/// The pause is Postfix's `service_throttle_time` (60 s), doubled with each consecutive death up to ten minutes. A
/// child that only found the database unreachable reports that and causes a pause of seconds: its kind is not at fault,
/// and the delivery has to continue soon after the database is back. A child killed from outside also starts with a
/// pause of one second.
struct SpawnThrottle: Sendable, Equatable {
    /// No child of the kind is started before this.
    private(set) var until: ContinuousClock.Instant?
    private var lastDeath: EarlyDeath?
    private var lastDeathAt: ContinuousClock.Instant?
    private var deathsInARow = 0

    /// Takes the death of a child before its first message, and returns the resulting pause.
    mutating func diedEarly(_ death: EarlyDeath, at now: ContinuousClock.Instant) -> Duration {
        if death != lastDeath { deathsInARow = 0 }
        let pause = Self.pauses(after: death).ceiling(afterFailures: deathsInARow)
        lastDeath = death
        lastDeathAt = now
        deathsInARow += 1
        until = now.advanced(by: pause)
        return pause
    }

    /// Whether a child of the kind may be started.
    func isOpen(at now: ContinuousClock.Instant) -> Bool { until.map { $0 <= now } ?? true }

    /// Whether a message sent by a child started at that time ends the series: an older child proves nothing about
    /// those that died.
    func isRefuted(byChildOf start: ContinuousClock.Instant) -> Bool { lastDeathAt.map { $0 <= start } ?? true }

    private static func pauses(after death: EarlyDeath) -> BackOff {
        switch death {
        case .surroundings: BackOff(initial: .seconds(1), maximum: .seconds(10))
        case .outside: BackOff(initial: .seconds(1), maximum: .seconds(60))
        case .own: BackOff(initial: .seconds(60), maximum: .seconds(600))
        }
    }
}

/// What a child's death before its first message says about the next child of its kind.
enum EarlyDeath: Sendable, Equatable {
    /// It could not use the database or its journal, which are temporarily unreachable or full: its kind is not at
    /// fault.
    case surroundings
    /// A process outside sent it a signal, which says nothing about the next child unless it repeats.
    case outside
    /// It failed on its own, and the next one will fail in the same way.
    case own

    init(_ reason: ChildExitReason, _ termination: ChildTermination) {
        switch (reason, termination) {
        case (.database, _), (.journal, _): self = .surroundings
        case (.signalled, .signalled(let signal)) where !Signals.crashes.contains(signal): self = .outside
        default: self = .own
        }
    }
}
