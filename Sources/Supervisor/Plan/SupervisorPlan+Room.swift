import Logging
import ProcessEvents
import ProcessProtocol
import PushCore
import Store

extension SupervisorPlan {
    /// Asks children to leave when kinds with work have no child and every place for them is taken.
    ///
    /// Places are few and children stay for one kind, so without this a long delivery of one application would keep all others waiting.
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
        // The places of those that are leaving already are the next ones to be free. Large ones leave one at a time, as each finishes much.
        var leaving = children.values.count(where: \.isLeaving)
        let most = min(starving.count, max(1, settings.maxSmallChildren / 4))
        for offer in starving.sorted(by: { isFirst($0, $1) }) where leaving < most {
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

    /// Why no more children are started for want of connections.
    var connectionText: String {
        let room = connections?.room ?? ConnectionRoom(most: 0, used: 0)
        return
            "The database has \(room.left) of \(room.most) connections left, and \(settings.freeConnections) are kept free, so no more children are started."
    }

    private func isFirst(_ left: ReadyWorkOffer, _ right: ReadyWorkOffer) -> Bool {
        if left.priority != right.priority { return left.priority > right.priority }
        guard let leftSince = starvingSince[left.kind], let rightSince = starvingSince[right.kind] else { return false }
        return (leftSince, left.kind) < (rightSince, right.kind)
    }

    /// What a child has loaded can be sent by the next one of its kind. Others wait for its place, and at a slow gateway the rest of its
    /// parts takes the whole drain time.
    mutating func leaveAtOnce(
        _ generation: Int32,
        at now: ContinuousClock.Instant,
        _ actions: inout [SupervisorAction]
    ) {
        askToDrain(generation, at: now, &actions)
        children[generation]?.isShuttingDownFast = true
        actions.append(.command(generation: generation, .fastShutdown, detail: nil))
    }

    /// While small kinds wait, no small child stays for what may come: it has sent what there was, and the next one takes its place.
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

    /// The child that has the least reason to stay, or nil as long as all have a better one than the work that waits.
    private func childToPreempt(for offer: ReadyWorkOffer, at now: ContinuousClock.Instant) -> Int32? {
        let active = children.values.filter { $0.phase == .running && isInTheWay($0, of: offer) }
            .sorted { $0.generation < $1.generation }
        // One that could send nothing before takes no place from others, but from those that find out whether a gateway is back: there
        // may be more of them than places, and each has its turn.
        if isStandingBack(offer.kind, at: now) { return active.last { $0.isProbing }?.generation }
        if let idle = active.first(where: { record in
            record.isIdleForGood(at: now) && !work.contains { $0.kind == record.kind }
        }) {
            return idle.generation
        }
        // Taking a place in which nothing is sent costs nothing; the youngest child has done the least so far.
        if let stalled = active.last(where: { $0.isStalled }) { return stalled.generation }
        let hasWaited = hasWaited(offer.kind, at: now)
        return leastUrgent(
            active.filter { !$0.hasTenure(at: now) && (hasWaited || priority(of: $0.kind) < offer.priority) }
        )
    }

    /// Whether it has a place that the work could use.
    private func isInTheWay(_ child: ChildRecord, of offer: ReadyWorkOffer) -> Bool {
        settings.maxSmallChildren == 0 || child.isLarge == offer.isLarge
    }

    /// Of several children the one whose work is least urgent; then one of a kind that has more of them, then the one that had its place
    /// for longest.
    private func leastUrgent(_ candidates: [ChildRecord]) -> Int32? {
        candidates.min { left, right in
            let (leftPriority, rightPriority) = (priority(of: left.kind), priority(of: right.kind))
            if leftPriority != rightPriority { return leftPriority < rightPriority }
            return (activeCount(right.kind), left.generation) < (activeCount(left.kind), right.generation)
        }?.generation
    }

    /// A small child whose kind has much to send by now, so that more children fill a core than may: one of them leaves, and its kind
    /// waits for its turn as others do.
    func grownBeyondPlaces(_ active: [ChildRecord], at now: ContinuousClock.Instant) -> ChildRecord? {
        let large = active.filter(\.isLarge)
        guard large.count > settings.maxSpareServers else { return nil }
        return leastUrgent(large.filter { $0.phase == .running && !$0.hasTenure(at: now) }).flatMap { children[$0] }
    }

    /// A child that leaves because it could send nothing is no reason for the next of its kind to take a place again at once.
    private mutating func backOff(_ preempted: Int32, at now: ContinuousClock.Instant) {
        guard let child = children[preempted], child.isStalled || child.isBusy && !child.hasResolvedAMessage else {
            return
        }
        backOffs[child.kind, default: PreemptionBackOff()].gaveWay(wasProbing: child.isProbing, at: now)
    }

    func isStandingBack(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        backOffs[kind]?.isStandingBack(at: now) ?? false
    }

    /// The urgency of what a kind's children have to do; a kind that is not on offer works on its last parts.
    private func priority(of kind: ChildKind) -> Int {
        work.first { $0.kind == kind }?.priority ?? Int.max
    }
}
