import PushCore
import Store

/// Tracks which sessions block this program with a lock, and for how long. It measures the time itself: each of our
/// waits is short and repeated, and few roles may see when another role's transaction began.
struct LockWatch: Sendable {
    /// What to log about a session.
    enum Action: Sendable, Hashable {
        /// It has blocked us for too long.
        case held(pid: Int64, text: String)
        /// It no longer blocks us; `after` is how long it did.
        case freed(pid: Int64, after: Duration)
    }

    /// A session that blocks us for longer is reported: the engine's own transactions take seconds at most.
    static let tolerance = Duration.seconds(10)

    private struct Sighting: Sendable {
        let since: ContinuousClock.Instant
        var isTold = false
    }

    private var seen: [Int64: Sighting] = [:]

    /// How many sessions have blocked us for too long.
    var held: Int { seen.values.count(where: \.isTold) }

    /// Takes the blocking sessions of one look.
    mutating func handle(_ waits: [LockWait], at now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        for (pid, sighting) in seen.sorted(by: { $0.key < $1.key }) where !waits.contains(where: { $0.pid == pid }) {
            seen[pid] = nil
            if sighting.isTold { actions.append(.freed(pid: pid, after: now - sighting.since)) }
        }
        for wait in waits {
            var sighting = seen[wait.pid] ?? Sighting(since: now)
            if !sighting.isTold, now - sighting.since >= Self.tolerance {
                sighting.isTold = true
                actions.append(.held(pid: wait.pid, text: wait.text))
            }
            seen[wait.pid] = sighting
        }
        return actions
    }
}
