import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store

extension SupervisorPlan {
    /// At most one child a second is started, so that a mistake cannot start processes without a limit.
    static let spawnInterval = Duration.seconds(1)
    /// The exception is the first child of a kind with work, for example when hundreds of applications have a little to
    /// send. Such children follow one another as fast as a process starts. Each kind still has its own interval of a
    /// second, and its own throttle if its children die.
    static let firstChildInterval = Duration.milliseconds(25)
    /// Another exception is the first second of work, when the machine is idle.
    static let startUpBurst = Duration.seconds(1)
    /// The number of ready parts that is worth one more child: about half a second of work for a fast child.
    static let readyPartsPerChild = 50
    /// How long a kind without a child waits while others, no less urgent, have all the places.
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
    /// A child younger than this may not have opened all of its connections yet.
    private static let timeToConnect = Duration.milliseconds(500)

    /// The places taken, and whether the database has connections for one more child. The first child is always tried.
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
            tenure: backOffs[kind]?.tenure ?? PreemptionBackOff.minTenure,
            isLarge: isLarge(kind),
            at: now
        )
        starvingSince[kind] = nil
        spawns.last = now
        spawns.lastOfKind[kind] = now
        actions.append(.spawn(generation: generation, kind))
        return generation
    }

    /// Whether a child of the kind keeps a core busy, judged by the ready work or by its other children.
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

    /// Whether a kind that has work but no child may start its first one now.
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

    /// The kind of the next child to start, among those for which there is a place.
    private func nextKind(_ places: Places, at now: ContinuousClock.Instant) -> ChildKind? {
        kindWithWork(places, at: now) ?? standingKind(places, at: now) ?? spareKind(places, at: now)
    }

    /// The kind with work and too few children. First come kinds without a child, unless their last one could send
    /// nothing. Among these, kinds for which a place was made come first, then the more urgent, then those with fewer
    /// children, then those that have waited longest.
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
            // A place made for one kind must not go back to the other.
            let (leftWaits, rightWaits) = (hasWaited(left.kind, at: now), hasWaited(right.kind, at: now))
            if isLeftNew, leftWaits != rightWaits { return leftWaits }
            if left.priority != right.priority { return left.priority > right.priority }
            let (leftSince, rightSince) = (starvingSince[left.kind] ?? now, starvingSince[right.kind] ?? now)
            return (leftCount, leftSince, left.kind) < (rightCount, rightSince, right.kind)
        }?.kind
    }

    /// Whether a kind without a child has waited so long that others make room for it, however urgent they are.
    func hasWaited(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        starvingSince[kind].map { $0.advanced(by: Self.rotationTime) <= now } ?? false
    }

    /// Whether a place would be left after every kind with work but no child has one, including kinds that will soon
    /// probe. A second child of a kind must not take the place of a prober. Small children have places of their own, if
    /// there are any.
    private func hasPlaceForMore(_ places: Places, at now: ContinuousClock.Instant) -> Bool {
        let soon = settings.maxSmallChildren > 0 ? [] : probesSoon.filter { $0.value > now }.map(\.key)
        let withWork = work.filter { isOpen($0.kind, at: now) && ($0.isLarge || settings.maxSmallChildren == 0) }
        let missing = Set(withWork.map(\.kind) + soon).filter { places.active[$0] == nil }
        return (settings.maxSmallChildren > 0 ? places.large : places.alive) + missing.count < settings.maxSpareServers
    }

    /// A kind without a child that may get a message at any moment: starting a process takes far longer than a message
    /// may wait. Half of the places for small children stay free for kinds that have work.
    private func standingKind(_ places: Places, at now: ContinuousClock.Instant) -> ChildKind? {
        guard places.hasConnections, places.alive < settings.maxSpareServers + settings.maxSmallChildren / 2 else {
            return nil
        }
        return standing.first { kind in
            places.active[kind] == nil && isOpen(kind, at: now) && !openCircuits.contains(kind)
                && !isStandingBack(kind, at: now)
        }
    }

    /// A kind to keep as a spare while there are fewer children than `minSpareServers`, or `startSpareServers` at the
    /// start.
    private func spareKind(_ places: Places, at now: ContinuousClock.Instant) -> ChildKind? {
        let wanted = max(settings.minSpareServers, isStartUp(now) ? settings.startSpareServers : 0)
        guard places.hasConnections, places.alive < min(wanted, settings.maxSpareServers) else { return nil }
        let open = kinds.filter { isOpen($0, at: now) && !openCircuits.contains($0) }
        return open.enumerated().min {
            (places.active[$0.element] ?? 0, $0.offset) < (places.active[$1.element] ?? 0, $1.offset)
        }?.element
    }
}

/// The number of places taken, counted once for several decisions.
///
/// A large child keeps a core busy and takes one of `maxSpareServers` places. A small child mostly waits for the
/// network, so many of them share a core. They have `maxSmallChildren` places in addition, and may use the others while
/// no large child does.
struct Places {
    private(set) var alive = 0
    private(set) var large = 0
    /// The children that take new work, by kind; kinds without one are missing.
    private(set) var active: [ChildKind: Int] = [:]
    /// Whether the database has connections for one more child.
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

    /// Whether there is a place for a large or a small child.
    func hasPlace(isLarge: Bool) -> Bool {
        guard hasConnections, alive < settings.maxChildren else { return false }
        return isLarge
            ? large < settings.maxSpareServers
            : alive < max(settings.maxSpareServers, large + settings.maxSmallChildren)
    }
}
