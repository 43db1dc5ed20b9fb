import ProcessEvents
import ProcessProtocol
import Store

/// Every decision of a supervisor about its children, as a value: events in, actions out, no clock and no I/O of its own.
///
/// It starts children where work is on offer (`+Spawning`), takes places from one kind for another (`+Room`), follows children
/// to their end (`+Children`), replaces them one by one (`+Handover`, `+Routes`), ends those that are stuck (`+Watching`) and ends them all
/// in order when asked (`+Ending`).
struct SupervisorPlan: Sendable {
    /// Children by generation, from the decision to start one until its journal is replayed.
    var children: [Int32: ChildRecord] = [:]
    var settings: SpawnSettings
    /// Counts the readings of the settings; a child of an older one is replaced.
    var settingsEpoch = 0
    var throttles: [ChildKind: SpawnThrottle] = [:]
    /// Kinds whose children gave way because they could send nothing.
    var backOffs: [ChildKind: PreemptionBackOff] = [:]
    /// Kinds whose last child found their circuit open; none is kept in stock for them until they have work again.
    var openCircuits: Set<ChildKind> = []
    /// What the last look showed of accounts and applications.
    var routes: RouteVersions?
    /// The replacement of a child that is under way.
    var handover: Handover?
    /// Since when a kind has had work and no child, because the maximum was reached.
    var starvingSince: [ChildKind: ContinuousClock.Instant] = [:]
    var work: [ReadyWorkOffer] = []
    var kinds: [ChildKind] = []
    /// Kinds that have a child, if there is a place for it, whether or not there is work.
    var standing: [ChildKind] = []
    var database = DatabaseView()
    /// What the last look showed of the database's connections.
    var connections: SeenConnections?
    /// Whether more children are wanted than connections are left for.
    var isShortOfConnections = false
    var spawns = SpawnTimes()
    /// False while nothing can be written to the disk of the journals: a child could do nothing there.
    var isJournalDiskUsable = true
    /// Kinds whose last child left a gateway in trouble, and until when their next one may come to probe it.
    var probesSoon: [ChildKind: ContinuousClock.Instant] = [:]
    var ending = Ending.no
    private var lastGeneration: Int32 = 0
    private var lastEventAt: ContinuousClock.Instant?
    /// Ticks come several times a second: after a longer silence this process was stopped, and heard nobody meanwhile.
    static let longestSilence = Duration.seconds(5)

    /// How far an asked-for end has come.
    enum Ending: Sendable, Equatable {
        case no
        case draining(since: ContinuousClock.Instant, saidAt: ContinuousClock.Instant)
        case fastShutdown(since: ContinuousClock.Instant, saidAt: ContinuousClock.Instant)
        case finished
    }

    init(settings: SpawnSettings) {
        self.settings = settings
    }

    /// Takes one event and returns what has to be done, in order.
    mutating func handle(_ event: SupervisorEvent, at now: ContinuousClock.Instant) -> [SupervisorAction] {
        if let lastEventAt, lastEventAt.advanced(by: Self.longestSilence) < now { excuseChildren(at: now) }
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

    /// Does what follows from the state of things, whatever has happened.
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

/// Everything that can happen to a supervisor.
enum SupervisorEvent: Sendable, Equatable {
    /// Time has passed; comes several times a second.
    case tick
    /// The kinds that could be asked for: enabled applications with their enabled accounts, likely ones first.
    case kinds([ChildKind])
    /// The kinds of open continuous deliveries: a message of theirs may come at any moment, and finds a child.
    case standing([ChildKind])
    /// What accounts and applications say now; children that took over something else are replaced.
    case routes(RouteVersions)
    /// An operator has put right what kept these applications from sending.
    case resumed(applications: Set<Int32>)
    /// What can be claimed now, as the last look at the database showed it.
    case work([ReadyWorkOffer])
    /// The connections of the database's server, as the last look showed them.
    case connections(ConnectionRoom)
    /// The database has answered, or cannot be reached.
    case databaseAvailable(Bool)
    /// Why the disk of the journals takes nothing, nil if it does; said when that changes.
    case journalDisk(trouble: String?)
    /// Messages wait for the children of their kinds.
    case messages(Set<ReadyMessagePart>)
    /// Something in the database has changed, so children should look.
    case wake(detail: String?)
    /// A child has its row in the database.
    case childRegistered(generation: Int32, id: Int64)
    /// A child wrote a status line.
    case childStatus(generation: Int32, ChildStatus)
    /// A child's process has ended and is reaped, or could not be started.
    case childEnded(generation: Int32, ChildTermination, outOfMemoryKillSeen: Bool)
    /// A child could not be registered in the database, so it was not started.
    case childNotRegistered(generation: Int32)
    /// A dead child's exit is recorded, its journal replayed and its parts released.
    case childRecovered(generation: Int32)
    /// Asked to end in order; asked again, it shuts down fast.
    case drain
    /// The database's row of this host asks it to end in order; said again and again, and heard once.
    case drainRequested
    /// Rows of children ask for another one in their place; said again and again until they are gone, and heard once.
    case recycleRequested(Set<Int64>)
    /// Asked to end now.
    case fastShutdown
    /// The time of day has come at which children are replaced.
    case restartDue
    /// The settings have been read again.
    case reload(SupervisorSettings)
}

/// What the plan wants done.
enum SupervisorAction: Sendable, Equatable {
    /// Register a child in the database and start its process.
    case spawn(generation: Int32, ChildKind)
    /// Write a command to a child's standard input.
    case command(generation: Int32, SupervisorCommand, detail: String?)
    /// Send a signal to a child.
    case signal(generation: Int32, Int32)
    /// Record a dead child's end, replay its journal, release its parts.
    case recover(generation: Int32, ChildEnd)
    /// Say something to the operator.
    case log(PlanLine)
    /// Every child is gone and recovered: end the supervisor.
    case finish
}

/// Parts that are ready to be claimed by children of one kind.
struct ReadyWorkOffer: Sendable, Equatable {
    var kind: ChildKind
    /// Parts whose time has come and that nobody has claimed.
    var readyParts: Int
    /// The highest priority among them; larger is more urgent.
    var priority: Int
    /// Messages in those parts.
    var messages: Int64 = 0

    /// A fast child sends so many within a tenth of a second; the rest of its life it waits for the network.
    static let smallMessages: Int64 = 2_000

    /// Whether a child fills a core with it.
    var isLarge: Bool { readyParts > SupervisorPlan.readyPartsPerChild || messages > Self.smallMessages }
}

/// The connections of the database's server, and when they were looked at.
struct SeenConnections: Sendable {
    var room: ConnectionRoom
    var at: ContinuousClock.Instant
}

/// Whether the database is there, as far as a plan has to know.
struct DatabaseView: Sendable {
    /// False until it has answered once: children could do nothing without it.
    var isAvailable = false
    /// Since when it has been away, if it was there before.
    var awaySince: ContinuousClock.Instant?
    /// When it answered for the first time, from which on children can be of use.
    var firstSeen: ContinuousClock.Instant?
}

/// When children were started last.
struct SpawnTimes: Sendable {
    var last: ContinuousClock.Instant?
    var lastOfKind: [ChildKind: ContinuousClock.Instant] = [:]
}
