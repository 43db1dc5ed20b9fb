import Store
import Synchronization

/// The database's clock as seen from this process: the last reading plus the time since, on the monotonic clock.
///
/// Hosts compare only times of the database's clock; a wrong clock on this host does no harm.
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

    /// Takes a new reading, unless a later query was answered first: that one may have seen the clock change.
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

/// Until when this child can be sure that no other owner has taken its parts, on its own monotonic clock.
///
/// It is checked at the moment when messages get their streams. So a process that was suspended for longer than its
/// lease finds the lease expired before any of its timers runs.
final class LeaseClock: Sendable {
    private let goodUntil = Mutex(ContinuousClock.now)

    /// Whether the right to send is valid now.
    var isValid: Bool { ContinuousClock.now < goodUntil.withLock { $0 } }

    func extend(until moment: ContinuousClock.Instant) {
        goodUntil.withLock { $0 = max($0, moment) }
    }
}
