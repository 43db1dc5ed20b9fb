import Store
import Synchronization

/// The database's clock as seen from here: its time at the last look plus what has passed since on the monotonic clock.
///
/// All times that hosts compare are the database's; this host's own clock may be wrong without harm.
final class DatabaseClock: Sendable {
    private struct Reading {
        var milliseconds: Int64
        var at: ContinuousClock.Instant
    }

    private let reading: Mutex<Reading>

    init(_ time: DatabaseTime) {
        reading = Mutex(Reading(milliseconds: time.microsecondsSince1970 / 1_000, at: .now))
    }

    func set(_ time: DatabaseTime) {
        reading.withLock { $0 = Reading(milliseconds: time.microsecondsSince1970 / 1_000, at: .now) }
    }

    /// Milliseconds since 1970 on the database's clock.
    var nowMilliseconds: Int64 {
        let reading = reading.withLock { $0 }
        let (seconds, attoseconds) = (ContinuousClock.now - reading.at).components
        return reading.milliseconds + seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
