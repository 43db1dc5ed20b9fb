import Synchronization

/// Whether the database takes writes of a process, judged by its last write. A server may be reachable and answer reads
/// but take no writes: a standby, one with a full disk, or one whose replica does not confirm.
package final class DatabasePulse: Sendable {
    private let last: Mutex<ContinuousClock.Instant?>

    /// Time for several attempts of a process that writes every few seconds. A longer time is no longer a slow commit.
    package static let longest = Duration.seconds(10)

    /// - Parameter startsUp: whether the database counts as up until the first write.
    package init(startsUp: Bool = false) {
        last = Mutex(startsUp ? .now : nil)
    }

    /// Records that a write was committed or refused.
    package func note(_ succeeded: Bool, at now: ContinuousClock.Instant = .now) {
        last.withLock { $0 = succeeded ? now : nil }
    }

    /// Whether a write was committed recently, and none was refused since.
    package func isUp(at now: ContinuousClock.Instant = .now) -> Bool {
        last.withLock { $0 }.map { now - $0 <= Self.longest } ?? false
    }
}
