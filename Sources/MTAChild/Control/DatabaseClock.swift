import Store
import Synchronization

/// The database's clock as seen from here: its time at the last look plus what has passed since on the monotonic clock.
///
/// All times that hosts compare are the database's; this host's own clock may be wrong without harm.
final class DatabaseClock: Sendable {
    private struct Reading {
        var milliseconds: Int64
        var at: ContinuousClock.Instant
        var askedAt: ContinuousClock.Instant
    }

    private let reading: Mutex<Reading>

    init(_ time: DatabaseTime) {
        let now = ContinuousClock.now
        reading = Mutex(Reading(milliseconds: time.microsecondsSince1970 / 1_000, at: now, askedAt: now))
    }

    /// Takes a new reading, unless one that was asked for after it came first: that one may have seen the clock set.
    ///
    /// - Parameter moment: when the database was asked.
    func set(_ time: DatabaseTime, askedAt moment: ContinuousClock.Instant) {
        reading.withLock { reading in
            guard moment >= reading.askedAt else { return }
            reading = Reading(milliseconds: time.microsecondsSince1970 / 1_000, at: .now, askedAt: moment)
        }
    }

    /// Milliseconds since 1970 on the database's clock.
    var nowMilliseconds: Int64 {
        let reading = reading.withLock { $0 }
        let (seconds, attoseconds) = (ContinuousClock.now - reading.at).components
        return reading.milliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}

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
