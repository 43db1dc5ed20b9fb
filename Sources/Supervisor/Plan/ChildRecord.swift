import ProcessProtocol
import PushCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
        case recovering(since: ContinuousClock.Instant)
    }

    let generation: Int32
    /// The id of its row in `mta_child`, by which operators know it; nil until it is registered.
    var id: Int64?
    let kind: ChildKind
    let startedAt: ContinuousClock.Instant
    /// Which reading of the settings it was started with.
    let settingsEpoch: Int
    /// How long it keeps its place without having resolved a message: what a token or a connection takes is no standstill.
    let tenure: Duration
    /// Whether its kind has had so much to send that it fills a core; until it has nothing to do.
    var isLarge: Bool
    /// Whether it was told to leave when it is done.
    var leavesWhenDone = false
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
    var isShuttingDownFast = false

    init(
        generation: Int32,
        kind: ChildKind,
        settingsEpoch: Int,
        tenure: Duration = PreemptionBackOff.shortestTenure,
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
    /// Whether it has been asked to leave, in whatever way, and is still there.
    var isLeaving: Bool { isAlive && !isActive }
    var isIdle: Bool { phase == .running && status?.report.state == .idle }
    var isBusy: Bool { status.map { $0.report.partsHeld > 0 || $0.report.inFlight > 0 } ?? false }
    var hasResolvedAMessage: Bool { (status?.report.counts.resolved ?? 0) > 0 }
    /// Whether it has shown that it can do the work of another child: it has, or it waits for work.
    var isProven: Bool { phase == .running && (isIdle || hasResolvedAMessage) }

    /// How long a child that holds parts may stand still before its place is worth more to others; status lines come each second.
    static let standstill = Duration.seconds(2)

    /// Whether it holds its place and sends nothing: it says so, or nothing of what it holds moves.
    ///
    /// Measured between its lines: one that is late with them is no reason to doubt what it does.
    var isStalled: Bool {
        guard phase == .running else { return false }
        return status?.report.state == .stalled || isProbing
            || isBusy && progressAt.advanced(by: Self.standstill) <= heardAt && !hasTenure(at: heardAt)
    }

    /// Whether it still has to show what it can do: progress comes before fairness.
    func hasTenure(at now: ContinuousClock.Instant) -> Bool {
        !hasResolvedAMessage && now < startedAt.advanced(by: tenure)
    }

    /// Whether it has nothing to do, and has had the time to find something: on a machine that is busy a process takes seconds until its
    /// first claim, and what it has just claimed is on offer no more.
    func isIdleForGood(at now: ContinuousClock.Instant) -> Bool { isIdle && !hasTenure(at: now) }

    /// Whether it finds out now and then whether a gateway in trouble takes messages again; another one can go on with that at any time.
    var isProbing: Bool { status?.report.state == .probing }

    /// Gives it the whole timeout again.
    mutating func excuse(at now: ContinuousClock.Instant) {
        heardAt = now
        progressAt = now
    }

    /// Takes a status line; lines of another generation are not this child's.
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

/// What a child is bound to for its whole life: one application through one external account.
struct ChildKind: Sendable, Hashable, Comparable, CustomStringConvertible {
    var applicationID: Int32
    var accountID: Int32
    var connector: Connector

    var description: String { "application \(applicationID) through account \(accountID) (\(connector.rawValue))" }

    static func < (left: Self, right: Self) -> Bool {
        (left.applicationID, left.accountID) < (right.applicationID, right.accountID)
    }
}

/// A child's end, judged: the enumerated reason, and the detail that a reader of `mta_child` needs besides.
struct ChildEnd: Sendable, Equatable {
    var reason: ChildExitReason
    var detail: String

    init(reason: ChildExitReason, detail: String) {
        self.reason = reason
        self.detail = detail
    }

    /// Judges an end from what the system says, what the child said last and what the supervisor did to it.
    ///
    /// What the supervisor did counts first, as a signal of ours explains every status. One that was stuck is so too when it
    /// obeys SIGTERM and calls its end an orderly one; one that ran out of drain time and got done all the same may say so.
    /// What the child said counts only when its exit status agrees, as it may announce an orderly end and crash on the way.
    init(
        _ termination: ChildTermination,
        announced: ChildExitReason?,
        endedBecause cause: ChildExitReason?,
        outOfMemoryKillSeen: Bool
    ) {
        switch termination {
        case .notStarted(let why):
            self.init(reason: .notStarted, detail: why)
        case .exited(let status):
            let byStatus = ChildExitReason(exitStatus: status)
            let said = announced.flatMap { $0.exitStatus == status ? $0 : nil }
            self.init(reason: cause == .stuck ? .stuck : said ?? byStatus, detail: "exit status \(status)")
        case .signalled(let signal):
            let killed = signal == Signals.kill
            let guess: ChildExitReason = killed && outOfMemoryKillSeen ? .outOfMemory : .signalled
            self.init(reason: cause ?? guess, detail: "signal \(signal)")
        }
    }
}

/// How the operating system says a child ended.
enum ChildTermination: Sendable, Equatable {
    case exited(status: Int32)
    case signalled(Int32)
    /// The process was never there: no executable, no memory, no descriptors. The text says why.
    case notStarted(String)
}

/// The numbers of the signals that the supervisor deals with.
enum Signals {
    static let terminate: Int32 = SIGTERM
    static let kill: Int32 = SIGKILL
    /// Signals with which the system ends a program for what it did itself.
    static let crashes: Set<Int32> = [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS]
}
