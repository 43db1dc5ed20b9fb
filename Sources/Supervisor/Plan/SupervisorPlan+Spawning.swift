import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store

extension SupervisorPlan {
    /// At most one child a second is started, so that a mistake cannot become a storm of processes…
    static let spawnInterval = Duration.seconds(1)
    /// …of each kind that has work and no child, as when hundreds of applications have a little to send: these follow one another as fast
    /// as a process starts. Each kind has its own second, and its own throttle when its children die…
    static let firstChildInterval = Duration.milliseconds(25)
    /// …except in the first second of work, when the machine has nothing else to do.
    static let startUpBurst = Duration.seconds(1)
    /// A child more is worth its start when this many parts wait for each one: about half a second's work of a fast child.
    static let readyPartsPerChild = 50
    /// How long a kind without a child waits while others, no less urgent, hold all the places.
    static let rotationTime = Duration.seconds(10)

    /// Starts children where they are wanted and there is room, or makes room.
    mutating func spawn(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        guard database.isAvailable, isJournalDiskUsable else { return }
        while true {
            let places = places(at: now)
            guard let kind = nextKind(places, at: now) else { break }
            guard maySpawn(at: now) || mayStartFirst(kind, at: now) else { return }
            let ready = work.first { $0.kind == kind }?.readyParts ?? 0
            let text =
                "One more child for \(text(kind)): parts ready \(ready), its children \(activeCount(kind)), all children \(places.alive), \(places.large) of them large"
            actions.append(.log(PlanLine(.debug, text, keys(kind))))
            _ = start(kind, at: now, &actions)
        }
        makeRoom(at: now, &actions)
    }

    /// The connections that a child opens: for loads, for outcomes, for control.
    static let connectionsPerChild = 3
    /// A child that is younger than this at a look may not have all of its connections yet.
    private static let timeToConnect = Duration.milliseconds(500)

    /// The places that are taken, and whether the database has connections for one child more. One child is always tried.
    func places(at now: ContinuousClock.Instant) -> Places {
        var places = Places(children.values, settings)
        guard let connections, places.alive > 0 else { return places }
        let young = children.values.count {
            $0.isAlive && $0.startedAt.advanced(by: Self.timeToConnect) > connections.at
        }
        places.hasConnections =
            connections.room.left - Self.connectionsPerChild * (young + 1) >= settings.freeConnections
        return places
    }

    /// Starts a child of a kind and returns its generation.
    mutating func start(
        _ kind: ChildKind,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) -> Int32 {
        let generation = nextGeneration()
        children[generation] = ChildRecord(
            generation: generation,
            kind: kind,
            settingsEpoch: settingsEpoch,
            tenure: backOffs[kind]?.tenure ?? PreemptionBackOff.shortestTenure,
            isLarge: isLarge(kind),
            at: now
        )
        starvingSince[kind] = nil
        spawns.last = now
        spawns.lastOfKind[kind] = now
        actions.append(.spawn(generation: generation, kind))
        return generation
    }

    /// Whether a child of the kind fills a core, by what is on offer or by what its other children do.
    private func isLarge(_ kind: ChildKind) -> Bool {
        work.contains { $0.kind == kind && $0.isLarge }
            || children.values.contains { $0.isActive && $0.isLarge && $0.kind == kind }
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

    /// The kind that the next child should have, of those for which there is a place.
    private func nextKind(_ places: Places, at now: ContinuousClock.Instant) -> ChildKind? {
        kindWithWork(places, at: now) ?? standingKind(places, at: now) ?? spareKind(places, at: now)
    }

    /// The kind with work and too few children: those without any child first, unless theirs could send nothing, of these the ones for
    /// which a place was made, then the more urgent, then the fewer children, then those that wait for longest.
    private func kindWithWork(_ places: Places, at now: ContinuousClock.Instant) -> ChildKind? {
        let hasPlaceForMore = hasPlaceForMore(places, at: now)
        let candidates = work.filter { offer in
            let wanted = (offer.readyParts + Self.readyPartsPerChild - 1) / Self.readyPartsPerChild
            let count = places.active[offer.kind] ?? 0
            guard count < wanted, isOpen(offer.kind, at: now) else { return false }
            return places.hasPlace(isLarge: offer.isLarge) && (count == 0 || hasPlaceForMore)
        }
        return candidates.min { left, right in
            let (leftCount, rightCount) = (places.active[left.kind] ?? 0, places.active[right.kind] ?? 0)
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
    func hasWaited(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        starvingSince[kind].map { $0.advanced(by: Self.rotationTime) <= now } ?? false
    }

    /// Whether a place is left when each kind that has work and no child, or will have some in a moment, has one: a second child of a kind
    /// does not take the place of a prober. Small ones have places of their own, if there are any.
    private func hasPlaceForMore(_ places: Places, at now: ContinuousClock.Instant) -> Bool {
        let soon = settings.maxSmallChildren > 0 ? [] : probesSoon.filter { $0.value > now }.map(\.key)
        let withWork = work.filter { isOpen($0.kind, at: now) && ($0.isLarge || settings.maxSmallChildren == 0) }
        let missing = Set(withWork.map(\.kind) + soon).filter { places.active[$0] == nil }
        return (settings.maxSmallChildren > 0 ? places.large : places.alive) + missing.count < settings.maxSpareServers
    }

    /// A kind without a child for which a message may come at any moment: a process takes far longer to start than a message may
    /// take to be sent. Half of the places of small children are left to kinds that have work.
    private func standingKind(_ places: Places, at now: ContinuousClock.Instant) -> ChildKind? {
        guard places.hasConnections, places.alive < settings.maxSpareServers + settings.maxSmallChildren / 2 else {
            return nil
        }
        return standing.first { kind in
            places.active[kind] == nil && isOpen(kind, at: now) && !openCircuits.contains(kind)
                && !isStandingBack(kind, at: now)
        }
    }

    /// A kind to keep in stock, while there are fewer children than `minSpareServers`, or `startSpareServers` at the start.
    private func spareKind(_ places: Places, at now: ContinuousClock.Instant) -> ChildKind? {
        let wanted = max(settings.minSpareServers, isStartUp(now) ? settings.startSpareServers : 0)
        guard places.hasConnections, places.alive < min(wanted, settings.maxSpareServers) else { return nil }
        let open = kinds.filter { isOpen($0, at: now) && !openCircuits.contains($0) }
        return open.enumerated().min {
            (places.active[$0.element] ?? 0, $0.offset) < (places.active[$1.element] ?? 0, $1.offset)
        }?.element
    }
}

/// How many places are taken, counted once for many questions.
///
/// A child that fills a core has one of `maxSpareServers`. One with little to send waits for the network nearly all of its life, so many of
/// them share a core: they have `maxSmallChildren` places beside, and may use the others while no large one does.
struct Places {
    private(set) var alive = 0
    private(set) var large = 0
    /// Children that take new work, of each kind that has any.
    private(set) var active: [ChildKind: Int] = [:]
    /// Whether the database has connections for a child more.
    var hasConnections = true
    private let settings: SpawnSettings

    init(_ children: some Collection<ChildRecord>, _ settings: SpawnSettings) {
        self.settings = settings
        for child in children where child.isAlive {
            alive += 1
            if child.isLarge { large += 1 }
            if child.isActive { active[child.kind, default: 0] += 1 }
        }
    }

    /// Whether a child with so much to do finds one.
    func hasPlace(isLarge: Bool) -> Bool {
        guard hasConnections, alive < settings.maxChildren else { return false }
        return isLarge
            ? large < settings.maxSpareServers
            : alive < max(settings.maxSpareServers, large + settings.maxSmallChildren)
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
struct PreemptionBackOff: Sendable, Equatable {
    /// The longest is as long as the longest interval between two probes of an application's circuit.
    static let pauses = BackOff(initial: .seconds(10), maximum: .seconds(300))

    /// What tokens and connections take at a slow gateway: Google's libraries wait half a minute for a token at most, usually it is a
    /// fraction of a second.
    static let shortestTenure = Duration.seconds(10)

    private var until: ContinuousClock.Instant?
    private var timesInARow = 0

    /// How long the kind's next child keeps its place without having sent anything: twice as long each time, so that it gets there
    /// however slow its gateway is.
    var tenure: Duration {
        BackOff(initial: Self.shortestTenure, maximum: Self.shortestTenure * 16).ceiling(afterFailures: timesInARow)
    }

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
