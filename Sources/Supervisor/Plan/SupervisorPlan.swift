import ProcessEvents
import ProcessProtocol
import PushCore
import Store

/// All of a supervisor's decisions about its children, as a value: events in, actions out, without a clock or I/O of
/// its own.
///
/// It starts children where work is ready (`+Spawning`), takes places from one kind for another (`+Room`), and replaces
/// children one by one (`+Handover`). `+Children` follows them to their end, ends those that are stuck, and ends all in
/// order when asked.
struct SupervisorPlan: Sendable {
    /// Children by generation, from the decision to start one until its journal has been replayed.
    var children: [Int32: ChildRecord] = [:]
    var settings: SpawnSettings
    /// The number of reloads of the settings; a child of an earlier one is replaced.
    var settingsEpoch = 0
    var throttles: [ChildKind: SpawnThrottle] = [:]
    /// Kinds whose children gave up their place because they could send nothing.
    var backOffs: [ChildKind: PreemptionBackOff] = [:]
    /// Kinds whose last child found its circuit open; they get no spare child until they have work again.
    var openCircuits: Set<ChildKind> = []
    /// The versions of accounts and applications at the last look.
    var routes: RouteVersions?
    /// The replacement in progress, if any.
    var handover: Handover?
    /// Since when a kind has had work but no child, because the maximum was reached.
    var starvingSince: [ChildKind: ContinuousClock.Instant] = [:]
    var work: [ReadyWorkOffer] = []
    var kinds: [ChildKind] = []
    /// Kinds that keep a child whether or not there is work, if there is a place for it.
    var standing: [ChildKind] = []
    var database = DatabaseView()
    /// The database's connections at the last look.
    var connections: SeenConnections?
    /// Whether more children are wanted than there are connections for.
    var isShortOfConnections = false
    var spawns = SpawnTimes()
    /// False while the disk of the journals cannot be written: a child could do nothing then.
    var isJournalDiskUsable = true
    /// Kinds whose last child left a gateway in trouble, and the time until which their next child may come to probe
    /// it.
    var probesSoon: [ChildKind: ContinuousClock.Instant] = [:]
    var ending = Ending.no
    private var lastGeneration: Int32 = 0
    private var lastEventAt: ContinuousClock.Instant?
    /// A longer silence means that this process was stopped and heard nothing from its children: ticks come several
    /// times a second.
    static let maxSilence = Duration.seconds(5)

    /// The progress of a requested end.
    enum Ending: Sendable, Equatable {
        case no
        case draining(since: ContinuousClock.Instant, saidAt: ContinuousClock.Instant)
        case fastShutdown(since: ContinuousClock.Instant, saidAt: ContinuousClock.Instant)
        case finished
    }

    init(settings: SpawnSettings) {
        self.settings = settings
    }

    /// Takes one event and returns the actions to carry out, in order.
    mutating func handle(_ event: SupervisorEvent, at now: ContinuousClock.Instant) -> [SupervisorAction] {
        if let lastEventAt, lastEventAt.advanced(by: Self.maxSilence) < now { excuseChildren(at: now) }
        lastEventAt = now
        var actions: [SupervisorAction] = []
        switch event {
        case .tick: break
        case .kinds(let known): kinds = known
        case .standing(let kinds): standing = kinds
        case .routes(let seen): routesSeen(seen, &actions)
        case .resumed(let applications): resumed(applications, &actions)
        case .work(let offers): offered(offers.filter { $0.readyParts > 0 })
        case .connections(let room): connections = SeenConnections(room: room, at: now)
        case .databaseAvailable(let available): databaseAnswered(available, at: now)
        case .journalDisk(let trouble): journalDiskProbed(trouble, &actions)
        case .wake(let detail): wakeChildren(detail, &actions)
        case .messages(let parts): wakeChildren(for: parts, &actions)
        case .childRegistered(let generation, let id): children[generation]?.id = id
        case .childStatus(let generation, let status): heard(generation, status, at: now)
        case .childEnded(let generation, let termination, let outOfMemory):
            childEnded(generation, termination, outOfMemory, at: now, &actions)
        case .childNotRegistered(let generation): childNotRegistered(generation, at: now)
        case .childRecovered(let generation): children[generation] = nil
        case .drain: drain(at: now, &actions)
        case .drainRequested: if ending == .no { drain(at: now, &actions) }
        case .recycleRequested(let ids): recycleRequested(ids, &actions)
        case .fastShutdown: fastShutdown(at: now, &actions)
        case .restartDue: restart(&actions)
        case .reload(let new): reload(new.spawn, &actions)
        }
        act(at: now, &actions)
        return actions
    }

    /// Does what the current state requires, whatever the event was.
    private mutating func act(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        watchChildren(at: now, &actions)
        if ending == .no {
            replaceOutdated(at: now, &actions)
            spawn(at: now, &actions)
        } else {
            continueEnding(at: now, &actions)
        }
    }

    mutating func databaseAnswered(_ available: Bool, at now: ContinuousClock.Instant) {
        database.isAvailable = available
        if available, database.firstSeen == nil { database.firstSeen = now }
        if available {
            database.awaySince = nil
        } else if database.firstSeen != nil, database.awaySince == nil {
            database.awaySince = now
        }
    }

    private mutating func journalDiskProbed(_ trouble: String?, _ actions: inout [SupervisorAction]) {
        isJournalDiskUsable = trouble == nil
        if let trouble {
            actions.append(
                .log(
                    PlanLine(
                        .journalsUnwritable,
                        "Journals cannot be written, so no child is started until they can: \(trouble)."
                    )
                )
            )
        } else {
            actions.append(.log(PlanLine(.journalsWritable, "Journals can be written again.")))
        }
    }

    private mutating func offered(_ offers: [ReadyWorkOffer]) {
        work = offers
        let large = Set(offers.lazy.filter(\.isLarge).map(\.kind))
        for (generation, child) in children where large.contains(child.kind) { children[generation]?.isLarge = true }
        openCircuits.subtract(offers.map(\.kind))
    }

    /// Whether the supervisor takes new deliveries and parts.
    var isClaiming: Bool { ending == .no }

    mutating func nextGeneration() -> Int32 {
        lastGeneration += 1
        return lastGeneration
    }
}

/// The database server's connections, and when they were read.
struct SeenConnections: Sendable {
    var room: ConnectionRoom
    var at: ContinuousClock.Instant
}

/// The plan's view of the database.
struct DatabaseView: Sendable {
    /// False until it has answered once: children can do nothing without it.
    var isAvailable = false
    /// Since when it has been unreachable, if it was reachable before.
    var awaySince: ContinuousClock.Instant?
    /// When it first answered; children are useful from then on.
    var firstSeen: ContinuousClock.Instant?
}

/// When the last children were started.
struct SpawnTimes: Sendable {
    var last: ContinuousClock.Instant?
    var lastOfKind: [ChildKind: ContinuousClock.Instant] = [:]
}
