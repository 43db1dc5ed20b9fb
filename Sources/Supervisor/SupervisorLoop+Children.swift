import Logging
import PostgresClient
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization
import SystemPackage

extension SupervisorLoop {
    /// Registers a child in the database, starts it and runs it to its end.
    func start(_ generation: Int32, _ kind: ChildKind, _ inbox: ChildInbox) async {
        guard let id = await register(generation, kind) else {
            registry.remove(generation)
            tell(.childNotRegistered(generation: generation))
            return
        }
        registry.update(generation) { $0.childID = id }
        tell(.childRegistered(generation: generation, id: id))
        let names = registry.names.withLock { $0 }
        logger.event(.childStarted, "Starting child \(id) for \(names.text(kind))", names.keys(kind, child: id))
        let host = ChildHost(registry: registry, tell: tell, logger: logger, forward: Self.writeToStandardError)
        await host.run(generation, inbox, launch(generation, id, kind))
    }

    /// The id of the child's new row in `mta_child`; nil if the database does not return one in time. Without a limit,
    /// a child that has no process yet could not be ended and would keep an ending supervisor alive. A row that is
    /// inserted after all is later found orphaned.
    private func register(_ generation: Int32, _ kind: ChildKind) async -> Int64? {
        let row = ChildRow(
            hostID: folder.hostID,
            generation: generation,
            applicationID: kind.applicationID,
            accountID: kind.accountID,
            connector: kind.connector
        )
        guard let store = stores.withLock(\.?.main) else { return nil }
        do {
            if let id = try await Timeout.within(Self.maxLook, { try await store.insertChild(row) }) { return id }
            let names = registry.names.withLock { $0 }
            logger.warning("A child for \(names.text(kind)) could not be registered within \(Self.maxLook)")
            return nil
        } catch {
            let names = registry.names.withLock { $0 }
            logger.failure("A child for \(names.text(kind)) could not be registered", of: error)
            return nil
        }
    }

    private func launch(_ generation: Int32, _ id: Int64, _ kind: ChildKind) -> ChildLaunch {
        let settings = settings.withLock { $0 }
        let isStanding = standing.withLock { $0.contains(kind) }
        let arguments = ChildArguments(
            childID: id,
            hostID: folder.hostID,
            generation: generation,
            applicationID: kind.applicationID,
            accountID: kind.accountID,
            connector: kind.connector,
            journalFile: folder.journal(ofChild: id).string,
            bootID: bootID,
            installationID: installationID.withLock { $0.isEmpty ? nil : $0 },
            globalOptions: settings.globalOptions + leaseOptions + (isStanding ? settings.standingOptions : [])
        )
        let own = settings.mta.master.executablePath
        return ChildLaunch(
            executable: own.isEmpty ? executable : FilePath(own),
            arguments: arguments.commandLine,
            killDelay: .seconds(settings.killDelaySec),
            drainTime: .seconds(settings.mta.master.drainTimeoutSec)
        )
    }

    private static func writeToStandardError(_ lines: [UInt8]) {
        // There is no place to report that the log cannot be written.
        _ = try? FileDescriptor.standardError.writeAll(lines)
    }
}

extension SupervisorLoop {
    /// Records how a child of this supervisor ended and recovers what it left; waits for the database without a limit.
    func recover(_ generation: Int32, _ end: ChildEnd) async {
        var pause = BackOff.database(longest: .seconds(settings.withLock(\.mta.master.dataBaseRetryDelaySec)))
        while !Task.isCancelled, let child = registry[generation], let id = child.childID {
            let time = pause.next()
            let problem = "Child \(id) could not be recovered, next attempt in \(time.pauseText)"
            let keys: Logger.Metadata = ["child": "\(id)"]
            var isJournalLost = false
            do {
                if try await recoverOnce(id, end, stderrTail: child.stderrTail) { break }
                logger.warning("\(problem): its journal is in use", metadata: keys)
            } catch {
                logger.failure(problem, of: error, keys)
                isJournalLost = error is JournalAccessError
            }
            registry.update(generation) { $0.isJournalLost = isJournalLost }
            try? await Task.sleep(for: time)
        }
        if Task.isCancelled { return }
        registry.remove(generation)
        tell(.childRecovered(generation: generation))
        // Its parts are ready again. An idle child leaves none.
        if end.reason != .idle { events.work.fire() }
    }

    private func recoverOnce(_ id: Int64, _ end: ChildEnd, stderrTail: String) async throws -> Bool {
        guard let store = stores.withLock(\.?.main), let recovery = recovery() else { return false }
        try await store.childExited(id, reason: end.reason.rawValue, detail: end.detail, stderrTail: stderrTail)
        return try await recovery.recover(child: id, isKnownDead: true) == .recovered
    }

    /// Recovers what children left whose supervisor ended before them, once they are gone too.
    func replayLeftovers() async throws {
        guard let recovery = recovery(), let store = stores.withLock(\.?.main) else { return }
        try await closeOrphanedRows(store)
        for id in try folder.childrenWithJournals() where registry.isAlive(childID: id) == nil {
            do {
                try await replayLeftover(id, recovery, store)
            } catch {
                // The others are not affected; this one is tried again in the next round.
                let problem = "The journal of child \(id) in \(folder.path) could not be replayed"
                logger.failure(problem, of: error, level: .error, ["child": "\(id)"])
            }
        }
    }

    private func replayLeftover(_ id: Int64, _ recovery: JournalRecovery, _ store: Store) async throws {
        guard try await recovery.recover(child: id, isKnownDead: false) == .recovered else { return }
        try await sayOrphaned(id, store)
        logger.notice("The journal that child \(id) left was replayed", metadata: ["child": "\(id)"])
        events.work.fire()
    }

    /// Closes the rows of this host's children that are gone and left no journal. Two looks in a row must find them
    /// missing, because the registry does not yet know a child that is being registered.
    private func closeOrphanedRows(_ store: Store) async throws {
        let withJournals = Set(try folder.childrenWithJournals())
        let running = try await store.children().filter { $0.row.hostID == folder.hostID }.map(\.id)
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
            stderrTail: ""
        )
    }

    /// Whether a lost part belongs to a dead child of this host, whose journal knows more than the dispatch mark.
    ///
    /// False for a child that lives and does not renew: its parts are taken, and it is fenced. False also for a child
    /// whose journal cannot be read: that may last, and on a single host no other supervisor would take its parts.
    func isOwnDead(_ lease: LeaseObservation) async -> Bool {
        guard lease.hostID == folder.hostID else { return false }
        if let isAlive = registry.isAlive(childID: lease.owner) {
            return !isAlive && !registry.isJournalLost(childID: lease.owner)
        }
        guard let recovery = recovery() else { return false }
        do {
            switch try await recovery.recover(child: lease.owner, isKnownDead: false) {
            case .childIsAlive, .putAside: return false
            case .underWay: return true
            case .recovered: break
            }
            if let store = stores.withLock(\.?.main) { try await sayOrphaned(lease.owner, store) }
            return true
        } catch {
            let problem = "The journal of child \(lease.owner) could not be replayed"
            logger.failure(problem, of: error, ["child": "\(lease.owner)"])
            // A database failure passes, and the journal still knows more then; a disk failure may not pass.
            return error is PostgresError || error is StoreError
        }
    }

    private func recovery() -> JournalRecovery? { recoveries.withLock { $0 } }
}

/// Limits how long a caller waits for work.
enum Timeout {
    /// The result of the work; nil after the time or when the caller is cancelled.
    ///
    /// The work is then cancelled but not awaited: a statement that waits for an unreachable server ends when its
    /// connection closes, not when its task is cancelled.
    static func within<Value: Sendable>(
        _ time: Duration,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        let (results, mailbox) = AsyncStream<Result<Value, any Error>>.makeStream()
        let worker = Task {
            do {
                mailbox.yield(.success(try await work()))
            } catch {
                mailbox.yield(.failure(error))
            }
            mailbox.finish()
        }
        let alarm = Task {
            try? await Task.sleep(for: time)
            mailbox.finish()
        }
        defer {
            worker.cancel()
            alarm.cancel()
        }
        for await result in results { return try result.get() }
        return nil
    }
}
