import ProcessProtocol

/// What the supervisor knows about one child.
struct ChildRecord: Sendable, Equatable {
    /// Where a child stands between its start and the end of its affairs.
    enum Phase: Sendable, Equatable {
        /// The process is being started or has not written a status line yet.
        case starting
        case running
        /// It was asked to drain, at that time.
        case draining(since: ContinuousClock.Instant)
        /// SIGTERM was sent, at that time.
        case terminating(since: ContinuousClock.Instant)
        /// SIGKILL was sent.
        case killed
        /// The process is gone and reaped, since that time; its journal is being replayed and its parts released.
        case settling(since: ContinuousClock.Instant)
    }

    let generation: Int32
    let kind: ChildKind
    let startedAt: ContinuousClock.Instant
    /// Which reading of the settings it was started with.
    let settingsEpoch: Int
    /// Whether its account or application is not any more as it took it over.
    var isOutdated = false
    var phase = Phase.starting
    var status: ChildStatus?
    /// When its last line came, or when it was started.
    var heardAt: ContinuousClock.Instant
    /// When its progress was last seen to change, or when it last had nothing to do.
    var progressAt: ContinuousClock.Instant
    /// Why the supervisor ends it, if it does so by force.
    var endCause: ChildExitReason?
    /// Whether it was told to leave without waiting for the database.
    var isHurried = false

    init(generation: Int32, kind: ChildKind, settingsEpoch: Int, at now: ContinuousClock.Instant) {
        self.generation = generation
        self.kind = kind
        self.settingsEpoch = settingsEpoch
        startedAt = now
        heardAt = now
        progressAt = now
    }

    /// Whether there is a process.
    var isAlive: Bool { settlingSince == nil }
    /// Since when its process has been gone.
    var settlingSince: ContinuousClock.Instant? {
        if case .settling(let since) = phase { since } else { nil }
    }
    /// Whether it takes new work.
    var isActive: Bool { phase == .starting || phase == .running }
    /// Whether it has been asked to leave, in whatever way, and is still there.
    var isLeaving: Bool { isAlive && !isActive }
    var isIdle: Bool { phase == .running && status?.state == .idle }
    var isBusy: Bool { status.map { $0.partsHeld > 0 || $0.inFlight > 0 } ?? false }
    var hasSettledAMessage: Bool { (status?.settled ?? 0) > 0 }
    /// Whether it has shown that it can do the work of another child: it has, or it waits for work.
    var isProven: Bool { phase == .running && (isIdle || hasSettledAMessage) }

    /// How long a child that holds parts may stand still before its place is worth more to others; status lines come each second.
    static let standstill = Duration.seconds(2)

    /// Whether it holds its place and sends nothing: it says so, or nothing of what it holds moves.
    ///
    /// Measured between its lines: one that is late with them is no reason to doubt what it does.
    var isBarren: Bool {
        guard phase == .running else { return false }
        return status?.state == .stalled || isProbing || isBusy && progressAt.advanced(by: Self.standstill) <= heardAt
    }

    /// Whether it finds out now and then whether a gateway in trouble takes messages again; another one can go on with that at any time.
    var isProbing: Bool { status?.state == .probing }

    /// Gives it the whole patience again.
    mutating func excuse(at now: ContinuousClock.Instant) {
        heardAt = now
        progressAt = now
    }

    /// Takes a status line; lines of another generation are not this child's.
    mutating func heard(_ new: ChildStatus, at now: ContinuousClock.Instant) {
        guard new.generation == generation else { return }
        let isBusy = new.partsHeld > 0 || new.inFlight > 0
        let isWaiting = new.state == .stalled || new.state == .probing || new.state == .starting
        if !isBusy || isWaiting || new.progress != status?.progress { progressAt = now }
        heardAt = now
        status = new
        if phase == .starting { phase = .running }
    }
}
