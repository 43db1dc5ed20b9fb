import Store
import Synchronization

/// What the process did since its start, for its own log and health page.
final class WebCounters: Sendable {
    /// The numbers.
    struct Numbers: Sendable, Hashable {
        var created = 0
        var updated = 0
        var disabled = 0
        var hits = 0
        var spooled = 0
        var loaded = 0
        var dropped = DroppedHits()
        var expired = 0
        var limited = 0
        /// Connections and requests of clients that have too many at once.
        var crowded = 0
        /// Registrations without the proof of their user key that their service asks for.
        var unproven = 0
    }

    private let numbers = Mutex(Numbers())

    /// The numbers now.
    var now: Numbers { numbers.withLock { $0 } }

    func add(_ report: RegistrationReport) {
        numbers.withLock { numbers in
            numbers.created += report.created
            numbers.updated += report.updated
            numbers.disabled += report.disabled
        }
    }

    func add(_ change: (inout Numbers) -> Void) {
        numbers.withLock { change(&$0) }
    }
}
