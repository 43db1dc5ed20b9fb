import Store
import Synchronization

/// Counters since the process's start, for its log, health page and metrics.
final class WebCounters: Sendable {
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
        /// Refused connections and requests of clients that have too many at once.
        var crowded = 0
        /// Registrations without the user key proof that their service requires.
        var unproven = 0
        /// Registrations with more undeclared values than are kept.
        var cut = 0
        /// Registrations with a time zone that PostgreSQL does not know.
        var unknownZones = 0
        /// Names of categories in registrations that changed nothing.
        var unknownCategories = 0
        /// Responses by endpoint and status.
        var answers: [Answer: Int] = [:]
    }

    /// The endpoint of a request and the status of its response; there are about a dozen of each.
    struct Answer: Sendable, Hashable {
        var place: WebPlace?
        var status: Int
    }

    private let numbers = Mutex(Numbers())

    var now: Numbers { numbers.withLock { $0 } }

    func add(_ report: RegistrationReport) {
        numbers.withLock { numbers in
            numbers.created += report.created
            numbers.updated += report.updated
            numbers.disabled += report.disabled
            numbers.unknownZones += report.unknownZones
            numbers.unknownCategories += report.unknownCategories
        }
    }

    func answered(_ place: WebPlace?, _ status: Int) {
        numbers.withLock { $0.answers[Answer(place: place, status: status), default: 0] += 1 }
    }

    func add(_ change: (inout Numbers) -> Void) {
        numbers.withLock { change(&$0) }
    }
}
