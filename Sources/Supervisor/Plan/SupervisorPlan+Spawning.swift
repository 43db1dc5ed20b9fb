extension SupervisorPlan {
    /// At most one child a second is started, so that a mistake cannot become a storm of processes…
    static let spawnInterval = Duration.seconds(1)
    /// …except in the first second of work, when the machine has nothing else to do.
    static let startUpBurst = Duration.seconds(1)
    /// A child more is worth its start when this many parts wait for each one: about half a second's work of a fast child.
    static let readyPartsPerChild = 50
    /// How long a kind without a child waits while others, no less urgent, hold all the places.
    static let rotationTime = Duration.seconds(10)

    /// Starts children where they are wanted and there is room, or makes room.
    mutating func spawn(at now: ContinuousClock.Instant, _ actions: inout [SupervisorAction]) {
        guard isDatabaseAvailable, isJournalDiskUsable else { return }
        while let kind = nextKind(at: now) {
            guard aliveCount < settings.maxSpareServers else {
                makeRoom(at: now, &actions)
                return
            }
            guard maySpawn(at: now) else { return }
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
        lastSpawnAt = now
        actions.append(.spawn(generation: generation, kind))
        return generation
    }

    /// Whether a child of the kind may be started now, if there is a place for it.
    func maySpawn(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        isDatabaseAvailable && isJournalDiskUsable && isOpen(kind, at: now) && maySpawn(at: now)
    }

    var aliveCount: Int { children.values.count(where: \.isAlive) }

    func activeCount(_ kind: ChildKind) -> Int { children.values.count { $0.isActive && $0.kind == kind } }

    private func maySpawn(at now: ContinuousClock.Instant) -> Bool {
        guard let lastSpawnAt else { return true }
        return isStartUp(now) || lastSpawnAt.advanced(by: Self.spawnInterval) <= now
    }

    private func isStartUp(_ now: ContinuousClock.Instant) -> Bool {
        startedAt.map { now < $0.advanced(by: Self.startUpBurst) } ?? false
    }

    func isOpen(_ kind: ChildKind, at now: ContinuousClock.Instant) -> Bool {
        throttles[kind]?.isOpen(at: now) ?? true
    }

    /// The kind that the next child should have, whether or not there is room for it.
    private func nextKind(at now: ContinuousClock.Instant) -> ChildKind? {
        kindWithWork(at: now) ?? standingKind(at: now) ?? spareKind(at: now)
    }

    /// The kind with work and too few children: those without any child first, unless theirs could send nothing, then the more
    /// urgent, then the fewer children.
    private func kindWithWork(at now: ContinuousClock.Instant) -> ChildKind? {
        let candidates = work.filter { offer in
            let wanted = (offer.readyParts + Self.readyPartsPerChild - 1) / Self.readyPartsPerChild
            return activeCount(offer.kind) < wanted && isOpen(offer.kind, at: now)
        }
        return candidates.min { left, right in
            let (leftCount, rightCount) = (activeCount(left.kind), activeCount(right.kind))
            let isLeftNew = leftCount == 0 && !isStandingBack(left.kind, at: now)
            let isRightNew = rightCount == 0 && !isStandingBack(right.kind, at: now)
            if isLeftNew != isRightNew { return isLeftNew }
            if left.priority != right.priority { return left.priority > right.priority }
            return (leftCount, left.kind) < (rightCount, right.kind)
        }?.kind
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
