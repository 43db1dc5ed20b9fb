import PushCore
import Store

/// Which sessions block us with a lock, and for how long, as one supervisor has seen it: each wait of ours for a lock is short and comes
/// again, and the begin of a transaction of another role is shown to few.
struct LockWatch: Sendable {
    /// What is told of a session.
    enum Action: Sendable, Hashable {
        /// It has been in the way for too long.
        case held(pid: Int64, text: String)
        /// It is no longer, after so long.
        case freed(pid: Int64, after: Duration)
    }

    /// The engine's own transactions take seconds at most; a session that blocks us for longer is reported.
    static let tolerance = Duration.seconds(10)

    private struct Sighting: Sendable {
        let since: ContinuousClock.Instant
        var isTold = false
    }

    private var seen: [Int64: Sighting] = [:]

    /// How many have been in the way for too long.
    var held: Int { seen.values.count(where: \.isTold) }

    /// Takes what was seen at a moment.
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
