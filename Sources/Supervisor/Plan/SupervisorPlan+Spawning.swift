import Logging
import ProcessEvents
import ProcessProtocol
import PushCore

extension SupervisorPlan {
    /// At most one child a second is started, so that a mistake cannot become a storm of processes…
    static let spawnInterval = Duration.seconds(1)
    /// …of each kind that has work and no child, as when many gateways are in trouble at once and each wants its probe: these follow one
    /// another as fast as a process starts…
    static let firstChildInterval = Duration.milliseconds(100)
    /// …except in the first second of work, when the machine has nothing else to do.
    static let startUpBurst = Duration.seconds(1)
    /// A child more is worth its start when this many parts wait for each one: about half a second's work of a fast child.
    static let readyPartsPerChild = 50
    /// How long a kind without a child waits while others, no less urgent, hold all the places.
    static let rotationTime = Duration.seconds(10)

    /// Starts children where they are wanted and there is room, or makes room.
    mutating func spawn(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        guard database.isAvailable, isJournalDiskUsable else { return }
        while let kind = nextKind(at: now) {
            guard aliveCount < settings.maxSpareServers else {
                makeRoom(at: now, &actions)
                return
            }
            guard maySpawn(at: now) || mayStartFirst(kind, at: now) else { return }
            let ready = work.first { $0.kind == kind }?.readyParts ?? 0
            let text =
                "A child more for \(text(kind)): parts ready \(ready), its children \(activeCount(kind)), all children \(aliveCount) of \(settings.maxSpareServers)"
            actions.append(.log(PlanLine(.debug, text, keys(kind))))
            _ = start(kind, at: now, &actions)
        }
    }

    /// Starts a child of a kind and returns its generation.
    mutating func start(
        _ kind: ChildKind,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) -> Int32 {
        let generation = nextGeneration()
        children[generation] = ChildRecord(generation: generation, kind: kind, settingsEpoch: settingsEpoch, at: now)
        starvingSince[kind] = nil
        spawns.last = now
        spawns.lastOfKind[kind] = now
        actions.append(.spawn(generation: generation, kind))
        return generation
    }

    /// Whether a child of the kind may be started now, if there is a place for it.
    func maySpawn(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        database.isAvailable && isJournalDiskUsable && isOpen(kind, at: now) && maySpawn(at: now)
    }

    var aliveCount: Int { children.values.count(where: \.isAlive) }

    func activeCount(_ kind: ChildKind) -> Int { children.values.count { $0.isActive && $0.kind == kind } }

    private func maySpawn(at now: ContinuousClock.Instant) -> Bool {
        guard let last = spawns.last else { return true }
        return isStartUp(now) || last.advanced(by: Self.spawnInterval) <= now
    }

    /// Whether a kind that has work and no child may have its first one now.
    private func mayStartFirst(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        guard activeCount(kind) == 0, work.contains(where: { $0.kind == kind }) else { return false }
        return (spawns.last.map { $0.advanced(by: Self.firstChildInterval) <= now } ?? true)
            && (spawns.lastOfKind[kind].map { $0.advanced(by: Self.spawnInterval) <= now } ?? true)
    }

    private func isStartUp(_ now: ContinuousClock.Instant) -> Bool {
        database.firstSeen.map { now < $0.advanced(by: Self.startUpBurst) } ?? false
    }

    func isOpen(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        throttles[kind]?.isOpen(at: now) ?? true
    }

    /// The kind that the next child should have, whether or not there is room for it.
    private func nextKind(at now: ContinuousClock.Instant) -> ChildKind? {
        kindWithWork(at: now) ?? standingKind(at: now) ?? spareKind(at: now)
    }

    /// The kind with work and too few children: those without any child first, unless theirs could send nothing, of these the ones for
    /// which a place was made, then the more urgent, then the fewer children, then those that wait for longest.
    private func kindWithWork(at now: ContinuousClock.Instant) -> ChildKind? {
        let candidates = work.filter { offer in
            let wanted = (offer.readyParts + Self.readyPartsPerChild - 1) / Self.readyPartsPerChild
            let count = activeCount(offer.kind)
            return count < wanted && isOpen(offer.kind, at: now) && (count == 0 || hasPlaceForMore(at: now))
        }
        return candidates.min { left, right in
            let (leftCount, rightCount) = (activeCount(left.kind), activeCount(right.kind))
            let isLeftNew = leftCount == 0 && !isStandingBack(left.kind, at: now)
            let isRightNew = rightCount == 0 && !isStandingBack(right.kind, at: now)
            if isLeftNew != isRightNew { return isLeftNew }
            // A place that was made for one must not go to the other again.
            let (leftWaits, rightWaits) = (hasWaited(left.kind, at: now), hasWaited(right.kind, at: now))
            if isLeftNew, leftWaits != rightWaits { return leftWaits }
            if left.priority != right.priority { return left.priority > right.priority }
            let (leftSince, rightSince) = (starvingSince[left.kind] ?? now, starvingSince[right.kind] ?? now)
            return (leftCount, leftSince, left.kind) < (rightCount, rightSince, right.kind)
        }?.kind
    }

    /// Whether a kind without a child has waited for so long that others make room for it, however urgent they are.
    private func hasWaited(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        starvingSince[kind].map { $0.advanced(by: Self.rotationTime) <= now } ?? false
    }

    /// Whether a place is left when each kind that has work and no child, or will have some in a moment, has one: a second child of a kind
    /// does not take the place of a prober.
    private func hasPlaceForMore(at now: ContinuousClock.Instant) -> Bool {
        let soon = probesSoon.filter { $0.value > now }.keys
        let missing = Set(work.lazy.map(\.kind).filter { isOpen($0, at: now) }).union(soon).filter {
            activeCount($0) == 0
        }
        return aliveCount + missing.count < settings.maxSpareServers
    }

    /// A kind without a child for which a message may come at any moment: a process takes far longer to start than a message may
    /// take to be sent.
    private func standingKind(at now: ContinuousClock.Instant) -> ChildKind? {
        guard aliveCount < settings.maxSpareServers else { return nil }
        return standing.first { kind in
            activeCount(kind) == 0 && isOpen(kind, at: now) && !openCircuits.contains(kind)
                && !isStandingBack(kind, at: now)
        }
    }

    /// A kind to keep in stock, while there are fewer children than `minSpareServers`, or `startSpareServers` at the start.
    private func spareKind(at now: ContinuousClock.Instant) -> ChildKind? {
        let wanted = max(settings.minSpareServers, isStartUp(now) ? settings.startSpareServers : 0)
        guard aliveCount < min(wanted, settings.maxSpareServers) else { return nil }
        let open = kinds.filter { isOpen($0, at: now) && !openCircuits.contains($0) }
        return open.enumerated().min {
            (activeCount($0.element), $0.offset) < (activeCount($1.element), $1.offset)
        }?.element
    }
}

extension SupervisorPlan {
    /// Asks one child to leave when a kind with work has no child and every place is taken.
    ///
    /// Places are few (`maxSpareServers`) and children stay for one kind, so without this a long delivery of one application
    /// would keep all others waiting.
    mutating func makeRoom(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        let starving = work.filter { offer in
            activeCount(offer.kind) == 0 && isOpen(offer.kind, at: now)
        }
        starvingSince = starvingSince.filter { entry in starving.contains { $0.kind == entry.key } }
        for offer in starving where starvingSince[offer.kind] == nil { starvingSince[offer.kind] = now }
        // One at a time: the place of a child that is leaving already is the next one to be free.
        guard !children.values.contains(where: \.isLeaving) else { return }
        for offer in starving.sorted(by: { $0.priority > $1.priority }) {
            if let preempted = childToPreempt(for: offer, at: now) {
                if let child = children[preempted] {
                    let text = "\(name(child)) makes room for \(text(offer.kind)), which has work and no child."
                    actions.append(.log(PlanLine(.info, text, keys(child))))
                }
                backOff(preempted, at: now)
                askToDrain(preempted, at: now, &actions)
                // What it has loaded can be sent by the next child of its kind; somebody waits for its place, and at a slow gateway
                // the rest of its parts takes the whole drain time.
                children[preempted]?.isShuttingDownFast = true
                actions.append(.command(generation: preempted, .fastShutdown, detail: nil))
                return
            }
        }
    }

    /// The child that has the least reason to stay, or nil as long as all have a better one than the work that waits.
    private func childToPreempt(for offer: WorkOnOffer, at now: ContinuousClock.Instant) -> Int32? {
        let active = children.values.filter { $0.phase == .running }.sorted { $0.generation < $1.generation }
        // One that could send nothing before takes no place from others, but from those that find out whether a gateway is back: there
        // may be more of them than places, and each has its turn.
        if isStandingBack(offer.kind, at: now) { return active.last { $0.isProbing }?.generation }
        if let idle = active.first(where: { record in record.isIdle && !work.contains { $0.kind == record.kind } }) {
            return idle.generation
        }
        // A place in which nothing is sent costs nobody anything; the youngest is the one that gave the least so far.
        if let stalled = active.last(where: { $0.isStalled }) { return stalled.generation }
        let hasWaited = hasWaited(offer.kind, at: now)
        let candidates = active.filter { hasWaited || priority(of: $0.kind) < offer.priority }
        return candidates.max { left, right in
            let (leftCount, rightCount) = (activeCount(left.kind), activeCount(right.kind))
            return (leftCount, right.generation) < (rightCount, left.generation)
        }?.generation
    }

    /// A child that leaves because it could send nothing is no reason for the next of its kind to take a place again at once.
    private mutating func backOff(_ preempted: Int32, at now: ContinuousClock.Instant) {
        guard let child = children[preempted], child.isStalled else { return }
        backOffs[child.kind, default: SetBack()].gaveWay(wasProbing: child.isProbing, at: now)
    }

    func isStandingBack(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        backOffs[kind]?.isStandingBack(at: now) ?? false
    }

    /// The urgency of what a kind's children have to do; a kind that is not on offer works on its last parts.
    private func priority(of kind: ChildKind) -> Int {
        work.first { $0.kind == kind }?.priority ?? Int.max
    }
}

/// Keeps a kind of child that dies before its first message from being started over and over.
///
/// The times are Postfix's `service_throttle_time` (60 s), doubled with each death in a row up to ten minutes. A child that
/// only found the database away says so, and waits for seconds: it is no fault of its kind, and the delivery has to go on
/// soon after the database is back. One that was killed from outside begins with a second, too.
struct SpawnThrottle: Sendable, Equatable {
    /// No child of the kind is started before.
    private(set) var until: ContinuousClock.Instant?
    private var lastDeath: EarlyDeath?
    private var lastDeathAt: ContinuousClock.Instant?
    private var deathsInARow = 0

    /// Says that a child died before its first message, and returns the pause that this costs.
    mutating func diedEarly(_ death: EarlyDeath, at now: ContinuousClock.Instant) -> Duration {
        if death != lastDeath { deathsInARow = 0 }
        let pause = Self.pauses(after: death).ceiling(afterFailures: deathsInARow)
        lastDeath = death
        lastDeathAt = now
        deathsInARow += 1
        until = now.advanced(by: pause)
        return pause
    }

    /// Whether a child of the kind may be started.
    func isOpen(at now: ContinuousClock.Instant) -> Bool { until.map { $0 <= now } ?? true }

    /// Whether a message of a child that was started then ends the series: an older child says nothing about those that died.
    func isRefuted(byChildOf start: ContinuousClock.Instant) -> Bool { lastDeathAt.map { $0 <= start } ?? true }

    private static func pauses(after death: EarlyDeath) -> BackOff {
        switch death {
        case .surroundings: BackOff(initial: .seconds(1), maximum: .seconds(10))
        case .outside: BackOff(initial: .seconds(1), maximum: .seconds(60))
        case .own: BackOff(initial: .seconds(60), maximum: .seconds(600))
        }
    }
}

/// What the death of a child before its first message says about the next one of its kind.
enum EarlyDeath: Sendable, Equatable {
    /// It could not work with the database or its journal, which are away or full for a while: no fault of its kind.
    case surroundings
    /// Somebody outside has ended it with a signal, which says nothing about the next one as long as it does not go on.
    case outside
    /// It failed by itself, and the next one will do the same.
    case own

    init(_ reason: ChildExitReason, _ termination: ChildTermination) {
        switch (reason, termination) {
        case (.database, _), (.journal, _): self = .surroundings
        case (.signalled, .signalled(let signal)) where !Signals.crashes.contains(signal): self = .outside
        default: self = .own
        }
    }
}

/// Keeps a kind of child that could send nothing from taking places from others over and over.
///
/// While a place is free it gets one as ever; only to ask another child to leave for it has to wait. The time doubles with each
/// child that gave way in a row, and the first message that is resolved ends it.
struct SetBack: Sendable, Equatable {
    /// The longest is as long as the longest interval between two probes of an application's circuit.
    static let pauses = BackOff(initial: .seconds(10), maximum: .seconds(300))

    private var until: ContinuousClock.Instant?
    private var timesInARow = 0

    /// Says that a child of the kind has given way.
    ///
    /// - Parameter wasProbing: a gateway in trouble was probed: nobody is to wait for minutes for one that is back.
    mutating func gaveWay(wasProbing: Bool = false, at now: ContinuousClock.Instant) {
        if wasProbing { timesInARow = 0 }
        until = now.advanced(by: Self.pauses.ceiling(afterFailures: timesInARow))
        timesInARow += 1
    }

    /// Whether the kind has to stand back now.
    func isStandingBack(at now: ContinuousClock.Instant) -> Bool { until.map { now < $0 } ?? false }
}
