import ProcessProtocol

/// Every decision of a supervisor about its children, as a value: events in, actions out, no clock and no I/O of its own.
///
/// It starts children where work is on offer (`+Spawning`), follows them to their end (`+Children`), ends them in order when
/// asked, by and by when settings change, by force when they are stuck (`+Ending`).
struct SupervisorPlan: Sendable {
    /// Children by generation, from the decision to start one until its journal is replayed.
    var children: [Int32: ChildRecord] = [:]
    var settings: SpawnSettings
    /// Counts the readings of the settings; a child of an older one is replaced.
    var settingsEpoch = 0
    var throttles: [ChildKind: SpawnThrottle] = [:]
    /// Since when a kind has had work and no child, because the maximum was reached.
    var starvingSince: [ChildKind: ContinuousClock.Instant] = [:]
    var work: [WorkOnOffer] = []
    var kinds: [ChildKind] = []
    /// False until the database has answered once: children could do nothing without it.
    var isDatabaseAvailable = false
    /// When the database answered for the first time, from which on children can be of use.
    var startedAt: ContinuousClock.Instant?
    var lastSpawnAt: ContinuousClock.Instant?
    var ending = Ending.no
    private var lastGeneration: Int32 = 0

    /// How far an asked-for end has come.
    enum Ending: Sendable, Equatable {
        case no
        case draining(since: ContinuousClock.Instant, saidAt: ContinuousClock.Instant)
        case hurrying(since: ContinuousClock.Instant, saidAt: ContinuousClock.Instant)
        case finished
    }

    init(settings: SpawnSettings) {
        self.settings = settings
    }

    /// Takes one event and returns what has to be done, in order.
    mutating func handle(_ event: SupervisorEvent, at now: ContinuousClock.Instant) -> [SupervisorAction] {
        var actions: [SupervisorAction] = []
        switch event {
        case .tick: break
        case .kinds(let known): kinds = known
        case .work(let offers): work = offers.filter { $0.readyParts > 0 }
        case .databaseAvailable(let available):
            isDatabaseAvailable = available
            if available, startedAt == nil { startedAt = now }
        case .wake(let detail): wakeChildren(detail, &actions)
        case .childStatus(let generation, let status): heard(generation, status, at: now)
        case .childEnded(let generation, let termination, let outOfMemory):
            childEnded(generation, termination, outOfMemory, at: now, &actions)
        case .childNotRegistered(let generation): childNotRegistered(generation)
        case .childSettled(let generation): children[generation] = nil
        case .drain: drain(at: now, &actions)
        case .hurry: hurry(at: now, &actions)
        case .reload(let new): reload(new.spawn, &actions)
        }
        watchChildren(at: now, &actions)
        if ending == .no {
            replaceOutdated(at: now, &actions)
            spawn(at: now, &actions)
        } else {
            continueEnding(at: now, &actions)
        }
        return actions
    }

    /// Whether the supervisor takes new deliveries and parts.
    var isClaiming: Bool { ending == .no }

    mutating func nextGeneration() -> Int32 {
        lastGeneration += 1
        return lastGeneration
    }
}
