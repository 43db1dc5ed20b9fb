import Logging
import ProcessProtocol
import PushCore

@testable import Supervisor

/// A plan with a manual clock and short calls for its events.
struct PlanHarness {
    let time = ManualTime()
    var plan: SupervisorPlan
    /// All actions so far, except log lines.
    var actions: [SupervisorAction] = []
    var logLines: [String] = []

    static let push = ChildKind(applicationID: 1, accountID: 10, connector: .iosHTTP2)
    static let other = ChildKind(applicationID: 3, accountID: 10, connector: .iosHTTP2)
    static func kind(_ application: Int32) -> ChildKind {
        ChildKind(applicationID: application, accountID: 10, connector: .iosHTTP2)
    }
    static let droid = ChildKind(applicationID: 2, accountID: 20, connector: .androidV2)

    init(_ settings: SpawnSettings = SpawnSettings()) {
        plan = SupervisorPlan(settings: settings)
    }

    /// Passes an event to the plan and returns its actions, without log lines.
    @discardableResult
    mutating func at(_ seconds: Double, _ event: SupervisorEvent) -> [SupervisorAction] {
        var new: [SupervisorAction] = []
        for action in plan.handle(event, at: time[seconds]) {
            if case .spawn(let generation, _) = action { plan.children[generation]?.id = Int64(generation) }
            guard case .log(let line) = action else {
                new.append(action)
                continue
            }
            if line.level > .debug { logLines.append(line.text) }
        }
        actions += new
        return new
    }

    /// Makes the database available and offers work.
    @discardableResult
    mutating func start(_ work: [ReadyWorkOffer] = []) -> [SupervisorAction] {
        at(0, .work(work))
        return at(0, .databaseAvailable(true))
    }

    @discardableResult
    mutating func status(
        _ seconds: Double,
        _ generation: Int32,
        _ state: ChildState = .sending,
        parts: Int = 0,
        sent: Int64 = 0,
        progress: UInt64 = 0,
        reason: ChildExitReason? = nil
    ) -> [SupervisorAction] {
        var report = ChildReport(pid: 1_000 + generation, state: state)
        report.partsHeld = parts
        report.counts.sent = sent
        report.progress = progress
        let status = ChildStatus(generation: generation, report: report, exitReason: reason)
        return at(seconds, .childStatus(generation: generation, status))
    }

    @discardableResult
    mutating func ended(_ seconds: Double, _ generation: Int32, _ end: ChildTermination) -> [SupervisorAction] {
        at(seconds, .childEnded(generation: generation, end, outOfMemoryKillSeen: false))
    }

    /// Ends a child and recovers what it left.
    @discardableResult
    mutating func gone(_ seconds: Double, _ generation: Int32, _ end: ChildTermination) -> [SupervisorAction] {
        let first = ended(seconds, generation, end)
        return first + at(seconds, .childRecovered(generation: generation))
    }

    /// Lets time pass as in a running supervisor, and returns the actions of that time.
    @discardableResult
    mutating func pass(from start: Double, to end: Double) -> [SupervisorAction] {
        var actions: [SupervisorAction] = []
        for second in stride(from: start, to: end, by: 1) { actions += at(second, .tick) }
        return actions + at(end, .tick)
    }

    static func offer(_ kind: ChildKind, parts: Int = 1, priority: Int = 0) -> ReadyWorkOffer {
        ReadyWorkOffer(kind: kind, readyParts: parts, priority: priority)
    }
}

extension SupervisorAction {
    /// Whether it recovers what a dead child left, which follows the end of every child.
    var isRecovering: Bool { if case .recover = self { true } else { false } }
}
