import Store
import Synchronization

/// What the process did since its start, for its own log and health page.
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
        /// Connections and requests of clients that have too many at once.
        var crowded = 0
        /// Registrations without the proof of their user key that their service asks for.
        var unproven = 0
        /// Registrations that had more undeclared values than are kept.
        var cut = 0
        /// Answers by endpoint and status.
        var answers: [Answer: Int] = [:]
    }

    /// What a request asked for, and the status of its answer: there are some dozen of each.
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
        }
    }

    func answered(_ place: WebPlace?, _ status: Int) {
        numbers.withLock { $0.answers[Answer(place: place, status: status), default: 0] += 1 }
    }

    func add(_ change: (inout Numbers) -> Void) {
        numbers.withLock { change(&$0) }
    }
}

/// Lets a notice through at once and then once a minute, with the sum of what it is about.
///
/// An outage or a full disk says the same of each batch, hundreds of times a second; so many lines would fill the log's disk, too.
struct NoticePace: Sendable {
    private var last: ContinuousClock.Instant?
    private var sum = 0

    private static let pause = Duration.seconds(60)

    /// Takes a number of things; returns how many the notice is about, nil if it is to wait.
    mutating func add(_ count: Int, at now: ContinuousClock.Instant = .now) -> Int? {
        sum += count
        if let last, now - last < Self.pause { return nil }
        last = now
        defer { sum = 0 }
        return sum
    }
}
