import Logging

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
            if let victim = victim(for: offer, at: now) {
                actions.append(
                    .log(.info, "Child \(victim) makes room for \(offer.kind), which has work and no child.")
                )
                setBack(victim, at: now)
                askToDrain(victim, at: now, &actions)
                return
            }
        }
    }

    /// The child that has the least reason to stay, or nil as long as all have a better one than the work that waits.
    private func victim(for offer: WorkOnOffer, at now: ContinuousClock.Instant) -> Int32? {
        let active = children.values.filter { $0.phase == .running }.sorted { $0.generation < $1.generation }
        // One that could send nothing before takes no place from others, but from those that find out whether a gateway is back: there
        // may be more of them than places, and each has its turn.
        if isStandingBack(offer.kind, at: now) { return active.last { $0.isProbing }?.generation }
        if let idle = active.first(where: { record in record.isIdle && !work.contains { $0.kind == record.kind } }) {
            return idle.generation
        }
        // A place in which nothing is sent costs nobody anything; the youngest is the one that gave the least so far.
        if let barren = active.last(where: { $0.isBarren }) { return barren.generation }
        let since = starvingSince[offer.kind] ?? now
        let hasWaited = since.advanced(by: Self.rotationTime) <= now
        let candidates = active.filter { hasWaited || priority(of: $0.kind) < offer.priority }
        return candidates.max { left, right in
            let (leftCount, rightCount) = (activeCount(left.kind), activeCount(right.kind))
            return (leftCount, right.generation) < (rightCount, left.generation)
        }?.generation
    }

    /// A child that leaves because it could send nothing is no reason for the next of its kind to take a place again at once.
    private mutating func setBack(_ victim: Int32, at now: ContinuousClock.Instant) {
        guard let child = children[victim], child.isBarren else { return }
        setBacks[child.kind, default: SetBack()].gaveWay(wasProbing: child.isProbing, at: now)
    }

    func isStandingBack(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        setBacks[kind]?.isStandingBack(at: now) ?? false
    }

    /// The urgency of what a kind's children have to do; a kind that is not on offer works on its last parts.
    private func priority(of kind: ChildKind) -> Int {
        work.first { $0.kind == kind }?.priority ?? Int.max
    }
}
