import Store
import Testing

@testable import Supervisor

@Suite("Sessions whose locks block others")
struct LockWatchTests {
    private let begin = ContinuousClock.now

    /// The actions for the lock waits seen at the given seconds.
    private func told(_ seen: [(seconds: Int, waits: [LockWait])]) -> (actions: [[LockWatch.Action]], held: [Int]) {
        var watch = LockWatch()
        var (actions, held): ([[LockWatch.Action]], [Int]) = ([], [])
        for (seconds, waits) in seen {
            actions.append(watch.handle(waits, at: begin + .seconds(seconds)))
            held.append(watch.held)
        }
        return (actions, held)
    }

    @Test("A lock is reported once, after ten seconds, and again when it ends")
    func once() {
        let wait = LockWait(pid: 7, text: "session 7 has locked it")
        let (actions, held) = told([(0, [wait]), (9, [wait]), (10, [wait]), (14, [wait]), (90, [])])
        #expect(
            actions == [
                [], [], [.held(pid: 7, text: "session 7 has locked it")], [], [.freed(pid: 7, after: .seconds(90))],
            ]
        )
        #expect(held == [0, 0, 1, 1, 0])
    }

    @Test("Short locks are not reported, and each session has its own time")
    func moments() {
        let (one, other) = (LockWait(pid: 1, text: "one"), LockWait(pid: 2, text: "other"))
        let (actions, _) = told([(0, [one]), (4, []), (12, [one, other]), (20, [other]), (22, [one, other])])
        #expect(actions == [[], [], [], [], [.held(pid: 2, text: "other")]])
    }
}
