import Logging
import PostgresClient
import ProcessProtocol
import PushCore
import Store
import Synchronization

extension SupervisorLoop {
    /// Records how a child of ours ended and settles its affairs, however long the database takes to come back.
    func settle(_ generation: Int32, _ end: ChildEnd) async {
        var pause = BackOff.database(longest: .seconds(settings.withLock(\.dataBaseRetryDelaySec)))
        while !Task.isCancelled, let child = registry[generation], let id = child.childID {
            let obstacle: String
            var isJournalLost = false
            do {
                if try await settleOnce(id, end, lastWords: child.lastWords) { break }
                obstacle = "its journal is in use"
            } catch {
                obstacle = "\(error)"
                isJournalLost = error is JournalAccessError
            }
            registry.update(generation) { $0.isJournalLost = isJournalLost }
            let time = pause.next()
            logger.warning(
                "The affairs of child \(generation) are not settled, next attempt in \(time.milliseconds) ms: \(obstacle)"
            )
            try? await Task.sleep(for: time)
        }
        if Task.isCancelled { return }
        registry.remove(generation)
        tell(.childSettled(generation: generation))
        // Its parts are ready again.
        workBell.ring()
    }

    private func settleOnce(_ id: Int64, _ end: ChildEnd, lastWords: String) async throws -> Bool {
        guard let store = stores.withLock(\.?.main), let recovery = recovery() else { return false }
        try await store.childExited(id, reason: end.reason.rawValue, detail: end.detail, lastWords: lastWords)
        return try await recovery.settle(child: id, isKnownDead: true) == .settled
    }

    /// Settles the affairs of children whose supervisor was gone before them, as soon as they are gone, too.
    func replayLeftovers() async throws {
        guard let recovery = recovery(), let store = stores.withLock(\.?.main) else { return }
        try await closeOrphanedRows(store)
        for id in try folder.childrenWithJournals() where registry.isAlive(childID: id) == nil {
            do {
                try await replayLeftover(id, recovery, store)
            } catch {
                // The others are not at fault; this one is tried again in the next round.
                logger.error("The journal of child \(id) in \(folder.path) could not be replayed: \(error)")
            }
        }
    }

    private func replayLeftover(_ id: Int64, _ recovery: JournalRecovery, _ store: Store) async throws {
        guard try await recovery.settle(child: id, isKnownDead: false) == .settled else { return }
        try await sayOrphaned(id, store)
        logger.notice("The journal that child \(id) left behind is replayed")
        workBell.ring()
    }

    /// Ends the rows of children of this host that are gone and left no journal, as seen in two looks one after the other: a
    /// child that is being registered is not known to the registry yet.
    private func closeOrphanedRows(_ store: Store) async throws {
        let withJournals = Set(try folder.childrenWithJournals())
        let running = try await store.children().filter { $0.row.hostID == folder.hostID }.map(\.beat.childID)
        let missing = Set(running.filter { registry.isAlive(childID: $0) == nil && !withJournals.contains($0) })
        let known = missingChildren.withLock { known in
            defer { known = missing }
            return known.intersection(missing)
        }
        for id in known.sorted() { try await sayOrphaned(id, store) }
    }

    private func sayOrphaned(_ id: Int64, _ store: Store) async throws {
        try await store.childExited(
            id,
            reason: ChildExitReason.orphaned.rawValue,
            detail: "its supervisor ended before it",
            lastWords: ""
        )
    }

    /// Whether a lost part is of a dead child of this host, whose journal knows more than the dispatch mark.
    ///
    /// A child that lives and does not renew is none of these: its parts are taken, and it is fenced. Nor is one whose journal
    /// cannot be read: nobody knows how long that lasts, and on a single host nobody else would take its parts.
    func isOwnDead(_ lease: LeaseObservation) async -> Bool {
        guard lease.hostID == folder.hostID else { return false }
        if let isAlive = registry.isAlive(childID: lease.owner) {
            return !isAlive && !registry.isJournalLost(childID: lease.owner)
        }
        guard let recovery = recovery() else { return false }
        do {
            switch try await recovery.settle(child: lease.owner, isKnownDead: false) {
            case .childIsAlive, .putAside: return false
            case .underWay: return true
            case .settled: break
            }
            if let store = stores.withLock(\.?.main) { try await sayOrphaned(lease.owner, store) }
            return true
        } catch {
            logger.warning("The journal of child \(lease.owner) could not be replayed: \(error)")
            // The database's trouble passes, and the journal still knows more; a disk's may not.
            return error is PostgresError || error is StoreError
        }
    }

    private func recovery() -> JournalRecovery? { recoveries.withLock { $0 } }
}
