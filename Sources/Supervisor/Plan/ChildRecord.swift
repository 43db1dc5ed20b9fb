import ProcessProtocol
import PushCore

/// What the supervisor knows about one child.
struct ChildRecord: Sendable, Equatable {
    /// The phases of a child, from its start until it has been recovered.
    enum Phase: Sendable, Equatable {
        /// The process is being started or has not written a status line yet.
        case starting
        case running
        /// It was asked to drain at that time.
        case draining(since: ContinuousClock.Instant)
        /// SIGTERM was sent at that time.
        case terminating(since: ContinuousClock.Instant)
        /// SIGKILL was sent.
        case killed
        /// The process has been gone since that time; its journal is being replayed and its parts are being released.
        case recovering(since: ContinuousClock.Instant)
    }

    let generation: Int32
    /// The id of its row in `mta_child`, which operators see; nil until it is registered.
    var id: Int64?
    let kind: ChildKind
    let startedAt: ContinuousClock.Instant
    /// The reload of the settings with which it was started.
    let settingsEpoch: Int
    /// How long it keeps its place without having resolved a message: getting a token or a connection takes time.
    let tenure: Duration
    /// Whether its kind has had enough to send to keep a core busy; reset when it has nothing to do.
    var isLarge: Bool
    /// Whether it was told to leave when it is done.
    var leavesWhenDone = false
    /// Whether its account or application has changed since it was started, or an operator requested its replacement.
    var isOutdated = false
    var phase = Phase.starting
    var status: ChildStatus?
    /// When its last status line came, or when it was started.
    var heardAt: ContinuousClock.Instant
    /// When its progress last changed, or when it last had nothing to do.
    var progressAt: ContinuousClock.Instant
    /// Why the supervisor ends it, if it does so by force.
    var endCause: ChildExitReason?
    /// Whether it was told to leave without waiting for the database.
    var isShuttingDownFast = false

    init(
        generation: Int32,
        kind: ChildKind,
        settingsEpoch: Int,
        tenure: Duration = PreemptionBackOff.minTenure,
        isLarge: Bool = false,
        at now: ContinuousClock.Instant
    ) {
        self.generation = generation
        self.kind = kind
        self.settingsEpoch = settingsEpoch
        self.tenure = tenure
        self.isLarge = isLarge
        startedAt = now
        heardAt = now
        progressAt = now
    }

    /// Whether there is a process.
    var isAlive: Bool { recoveringSince == nil }
    /// Since when its process has been gone.
    var recoveringSince: ContinuousClock.Instant? {
        if case .recovering(let since) = phase { since } else { nil }
    }
    /// Whether it takes new work.
    var isActive: Bool { phase == .starting || phase == .running }
    /// Whether it was asked to leave in any way and is still running.
    var isLeaving: Bool { isAlive && !isActive }
    var isIdle: Bool { phase == .running && status?.report.state == .idle }
    var isBusy: Bool { status.map { $0.report.partsHeld > 0 || $0.report.inFlight > 0 } ?? false }
    var hasResolvedAMessage: Bool { (status?.report.counts.resolved ?? 0) > 0 }
    /// Whether it has shown that it can replace another child: it has resolved a message, or it waits for work.
    var isProven: Bool { phase == .running && (isIdle || hasResolvedAMessage) }

    /// How long a child that holds parts may make no progress before others may take its place; status lines come every
    /// second.
    static let standstill = Duration.seconds(2)

    /// Whether it holds its place and sends nothing: it reports so, or none of its messages makes progress.
    ///
    /// Measured between its status lines, so that late lines alone do not make a child stalled.
    var isStalled: Bool {
        guard phase == .running else { return false }
        return status?.report.state == .stalled || isProbing
            || isBusy && progressAt.advanced(by: Self.standstill) <= heardAt && !hasTenure(at: heardAt)
    }

    /// Whether it still has time to prove itself: a new child keeps its place until it could make progress.
    func hasTenure(at now: ContinuousClock.Instant) -> Bool {
        !hasResolvedAMessage && now < startedAt.advanced(by: tenure)
    }

    /// Whether it has nothing to do after it has had time to find work. On a busy machine a process takes seconds until
    /// its first claim, and just-claimed work no longer counts as ready.
    func isIdleForGood(at now: ContinuousClock.Instant) -> Bool { isIdle && !hasTenure(at: now) }

    /// Whether it only probes a gateway in trouble from time to time; another child can take that over at any time.
    var isProbing: Bool { status?.report.state == .probing }

    /// Restarts its timeouts.
    mutating func excuse(at now: ContinuousClock.Instant) {
        heardAt = now
        progressAt = now
    }

    /// Takes a status line; lines of another generation are ignored.
    mutating func heard(_ new: ChildStatus, at now: ContinuousClock.Instant) {
        guard new.generation == generation else { return }
        let isBusy = new.report.partsHeld > 0 || new.report.inFlight > 0
        let isWaiting = new.report.state == .stalled || new.report.state == .probing || new.report.state == .starting
        if !isBusy || isWaiting || new.report.progress != status?.report.progress { progressAt = now }
        heardAt = now
        status = new
        if Int64(new.report.inFlight) > ReadyWorkOffer.smallMessages { isLarge = true }
        if phase == .starting { phase = .running }
    }
}
