import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store

extension SupervisorPlan {
    /// Asks children to leave when kinds with work have no child and all places for them are taken.
    ///
    /// Places are few and a child serves one kind, so otherwise a long delivery of one application would hold up all
    /// others.
    mutating func makeRoom(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        let places = places(at: now)
        let starving = work.filter { offer in
            places.active[offer.kind] == nil && isOpen(offer.kind, at: now) && !places.hasPlace(isLarge: offer.isLarge)
        }
        let kinds = Set(starving.map(\.kind))
        starvingSince = starvingSince.filter { kinds.contains($0.key) }
        for kind in kinds where starvingSince[kind] == nil { starvingSince[kind] = now }
        sayConnections(isShort: !starving.isEmpty && !places.hasConnections, &actions)
        guard !starving.isEmpty else { return }
        letSmallOnesLeave(starving, &actions)
        // Leaving children free their places first. Large children leave one at a time, as each has much to finish.
        var leaving = children.values.count(where: \.isLeaving)
        let limit = min(starving.count, max(1, settings.maxSmallChildren / 4))
        for offer in starving.sorted(by: { isFirst($0, $1) }) where leaving < limit {
            guard leaving == 0 || !offer.isLarge, let preempted = childToPreempt(for: offer, at: now) else { continue }
            if let child = children[preempted] {
                let text = "\(name(child)) makes room for \(text(offer.kind)), which has work and no child."
                actions.append(.log(PlanLine(.info, text, keys(child))))
            }
            backOff(preempted, at: now)
            leaveAtOnce(preempted, at: now, &actions)
            leaving += 1
        }
    }

    private mutating func sayConnections(isShort: Bool, _ actions: inout [SupervisorAction]) {
        guard isShort != isShortOfConnections else { return }
        isShortOfConnections = isShort
        let text = isShort ? connectionText : "The database has connections for more children again."
        actions.append(.log(PlanLine(isShort ? .warning : .notice, text)))
    }

    /// Why no more children are started when connections are short.
    var connectionText: String {
        let room = connections?.room ?? ConnectionRoom(limit: 0, used: 0)
        return
            "The database has \(room.left) of \(room.limit) connections left, and \(settings.freeConnections) are kept free, so no more children are started."
    }

    private func isFirst(_ left: ReadyWorkOffer, _ right: ReadyWorkOffer) -> Bool {
        if left.priority != right.priority { return left.priority > right.priority }
        guard let leftSince = starvingSince[left.kind], let rightSince = starvingSince[right.kind] else { return false }
        return (leftSince, left.kind) < (rightSince, right.kind)
    }

    /// Makes a child drain and hand back its parts at once. The next child of its kind can send what this one has
    /// loaded. Others wait for its place, and at a slow gateway finishing its parts would take the whole drain time.
    mutating func leaveAtOnce(
        _ generation: Int32,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) {
        askToDrain(generation, at: now, &actions)
        children[generation]?.isShuttingDownFast = true
        actions.append(.command(generation: generation, .fastShutdown, detail: nil))
    }

    /// While small kinds wait, no small child waits for new work: it leaves when it is done, and the next one takes its
    /// place.
    private mutating func letSmallOnesLeave(_ starving: [ReadyWorkOffer], _ actions: inout [SupervisorAction]) {
        guard settings.maxSmallChildren > 0, starving.contains(where: { !$0.isLarge }) else { return }
        for generation in children.keys.sorted() {
            guard let child = children[generation], child.isActive, !child.isLarge, !child.leavesWhenDone else {
                continue
            }
            children[generation]?.leavesWhenDone = true
            actions.append(.command(generation: generation, .leaveWhenDone, detail: nil))
        }
    }

    /// The child with the least reason to stay; nil while all have a better one than the waiting work.
    private func childToPreempt(for offer: ReadyWorkOffer, at now: ContinuousClock.Instant) -> Int32? {
        let active = children.values.filter { $0.phase == .running && isInTheWay($0, of: offer) }
            .sorted { $0.generation < $1.generation }
        // A kind that could send nothing takes no place from others, except from probers: there may be more of these
        // than places, so they take turns.
        if isStandingBack(offer.kind, at: now) { return active.last { $0.isProbing }?.generation }
        if let idle = active.first(where: { record in
            record.isIdleForGood(at: now) && !work.contains { $0.kind == record.kind }
        }) {
            return idle.generation
        }
        // Taking the place of a stalled child costs nothing; the youngest has done the least so far.
        if let stalled = active.last(where: { $0.isStalled }) { return stalled.generation }
        let hasWaited = hasWaited(offer.kind, at: now)
        return leastUrgent(
            active.filter { !$0.hasTenure(at: now) && (hasWaited || priority(of: $0.kind) < offer.priority) }
        )
    }

    /// Whether the child has a place that the work could use.
    private func isInTheWay(_ child: ChildRecord, of offer: ReadyWorkOffer) -> Bool {
        settings.maxSmallChildren == 0 || child.isLarge == offer.isLarge
    }

    /// The child with the least urgent work; then one of the kind with the most children, then the one that has had its
    /// place longest.
    private func leastUrgent(_ candidates: [ChildRecord]) -> Int32? {
        candidates.min { left, right in
            let (leftPriority, rightPriority) = (priority(of: left.kind), priority(of: right.kind))
            if leftPriority != rightPriority { return leftPriority < rightPriority }
            return (activeCount(right.kind), left.generation) < (activeCount(left.kind), right.generation)
        }?.generation
    }

    /// A large child to end, because growing kinds have made more children large than there are places. Its kind then
    /// waits for its turn like others.
    func grownBeyondPlaces(_ active: [ChildRecord], at now: ContinuousClock.Instant) -> ChildRecord? {
        let large = active.filter(\.isLarge)
        guard large.count > settings.maxSpareServers else { return nil }
        return leastUrgent(large.filter { $0.phase == .running && !$0.hasTenure(at: now) }).flatMap { children[$0] }
    }

    /// Backs off the kind of a child that leaves because it could send nothing. So the next one does not take a place
    /// again at once.
    private mutating func backOff(_ preempted: Int32, at now: ContinuousClock.Instant) {
        guard let child = children[preempted], child.isStalled || child.isBusy && !child.hasResolvedAMessage else {
            return
        }
        backOffs[child.kind, default: PreemptionBackOff()].gaveWay(wasProbing: child.isProbing, at: now)
    }

    func isStandingBack(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        backOffs[kind]?.isStandingBack(at: now) ?? false
    }

    /// The priority of a kind's work; a kind without ready work is finishing its last parts.
    private func priority(of kind: ChildKind) -> Int {
        work.first { $0.kind == kind }?.priority ?? Int.max
    }
}
