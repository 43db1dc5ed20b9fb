import Logging
import ProcessEvents
import PushCore
import Store

/// Recovers what a dead child left: stores the answers in its journal and releases its parts.
actor JournalRecovery {
    /// The result of recovering a child.
    enum Result: Sendable, Equatable {
        case recovered
        /// Its journal is locked: the child is still alive, although its supervisor is gone.
        case childIsAlive
        /// Another duty of this supervisor is recovering it.
        case underWay
        /// The file in place of its journal says nothing about it, so nothing was decided.
        case putAside
    }

    /// The maximum number of facts stored in one transaction.
    private static let batchSize = 1_000

    private let folder: HostFolder
    private let identity: JournalIdentity
    private let store: Store
    private let logger: Logger
    private let condition: HostCondition
    private var underWay: Set<Int64> = []

    init(folder: HostFolder, identity: JournalIdentity, store: Store, logger: Logger, condition: HostCondition) {
        self.folder = folder
        self.identity = identity
        self.store = store
        self.logger = logger
        self.condition = condition
    }

    /// Stores the answers in a child's journal, releases its parts and removes the journal. It can be repeated after an
    /// error.
    ///
    /// - Parameter isKnownDead: whether this supervisor knows that the child is dead, and not from the journal alone.
    ///   If it does not know, a journal that is unreadable or foreign is put aside and proves nothing: the child after
    ///   which the file is named may live on another host. Otherwise its parts are taken when their leases have
    ///   expired.
    func recover(child: Int64, isKnownDead: Bool) async throws -> Result {
        // A flock does not guard against opening the file twice in one process.
        guard underWay.insert(child).inserted else { return .underWay }
        defer { underWay.remove(child) }
        let path = folder.journal(ofChild: child)
        switch try JournalAccessError.wrapping(path, { try JournalFile.take(path) }) {
        case .alive:
            return .childIsAlive
        case .missing:
            try await release(child, journal: nil)
            return .recovered
        case .taken(let file):
            return try await replay(file, of: child, isKnownDead: isKnownDead)
        }
    }

    private func replay(_ file: JournalFile, of child: Int64, isKnownDead: Bool) async throws -> Result {
        let contents: JournalContents
        do {
            contents = try JournalAccessError.wrapping(file.path) { try file.read() }
        } catch let error as JournalError {
            if error.code == .headerTooShort, try await store.partsHeld(byChild: child).isEmpty {
                // It died at its start, for example on a full disk: the header is written before anything is claimed.
                try file.remove()
                return .recovered
            }
            return try await setAside(file, .unreadable, "\(error)", child, isKnownDead: isKnownDead)
        }
        let decision = identity.judge(contents.header, ofChild: child)
        if case .foreign(let why) = decision {
            return try await setAside(file, .foreign, why, child, isKnownDead: isKnownDead)
        }
        // Read first, because the facts stored below carry no journal length. After another boot, a missing tail is
        // normal.
        let told = try await store.journalLength(ofChild: child)
        let isOlder = decision == .ours && contents.damage == nil && contents.writtenLength < told
        let stored = await storeFacts(contents.summary, of: child)
        let isTailLost = decision == .ofEarlierBoot || contents.damage != nil || isOlder
        try await release(child, journal: contents.summary, isTailLost: isTailLost, but: stored.missing)
        if let trouble = stored.trouble { throw trouble }
        if isOlder {
            let text =
                "The journal \(file.path) is put aside: it ends at byte \(contents.writtenLength), but its child had written \(told) bytes, so it is an old copy. Its answers are stored; messages up to the mark without an answer in it are ambiguous"
            logger.event(.journalPutAside, "\(text)", ["child": "\(child)"])
            try file.putAside(.older)
        } else if let damage = contents.damage {
            let text =
                "The journal \(file.path) is damaged and put aside; its answers up to the damage are stored: \(damage)"
            logger.event(.journalPutAside, "\(text)", ["child": "\(child)"])
            try file.putAside(.unreadable)
        } else {
            try file.remove()
        }
        return .recovered
    }

    /// Puts aside a file that says nothing about the child.
    private func setAside(
        _ file: JournalFile,
        _ reason: JournalFile.Reason,
        _ why: String,
        _ child: Int64,
        isKnownDead: Bool
    ) async throws -> Result {
        let text = "The journal \(file.path) is put aside and not replayed (\(reason.rawValue)): \(why)"
        logger.event(.journalPutAside, "\(text)", ["child": "\(child)"])
        if isKnownDead { try await release(child, journal: nil) }
        try file.putAside(reason)
        return isKnownDead ? .recovered : .putAside
    }

    /// Stores the facts of each part. A part that cannot be stored now, for example because another session has locked
    /// its delivery, does not hold up the others.
    ///
    /// - Returns: the parts whose facts are not stored, and the error.
    private func storeFacts(
        _ summary: JournalSummary,
        of child: Int64
    ) async -> (missing: Set<Int64>, trouble: (any Error)?) {
        var missing: Set<Int64> = []
        var trouble: (any Error)?
        for claim in summary.claims.sorted() {
            do {
                try await storeFacts(summary.results(claim).facts, claim, of: child)
            } catch {
                missing.insert(claim.part)
                trouble = error
            }
        }
        return (missing, trouble)
    }

    private func storeFacts(_ facts: [JournalAnswer], _ claim: PartToken, of child: Int64) async throws {
        for start in stride(from: 0, to: facts.count, by: Self.batchSize) {
            let batch = facts[start..<min(start + Self.batchSize, facts.count)]
            // Heartbeats and the look for work share this connection, so it does not wait for locks; a locked delivery
            // is tried again.
            let report = try await store.storeFacts(OutcomeBatch(claim, batch), waits: false)
            guard report.inserted > 0 else { continue }
            condition.update { $0.journalReplayed += Int64(report.inserted) }
            try await store.addReplayed(child: child, count: Int64(report.inserted))
            logger.info(
                "Child \(child): \(report.inserted) answers for part \(claim.part) came from its journal",
                metadata: ["child": "\(child)"]
            )
        }
    }

    /// Releases the parts that the child still holds, with what is known of their messages. A part that cannot be
    /// released now does not hold up the others.
    ///
    /// - Parameters:
    ///   - journal: the journal; nil if there is none to read. Then every message up to the dispatch mark is ambiguous.
    ///   - isTailLost: whether the journal may lack its last records. Then every message up to the mark without an
    ///     answer is ambiguous.
    ///   - kept: parts that must not be released, because facts about them in the journal are not stored yet; their
    ///     messages would be sent again.
    private func release(
        _ child: Int64,
        journal: JournalSummary?,
        isTailLost: Bool = false,
        but kept: Set<Int64> = []
    ) async throws {
        var trouble: (any Error)?
        for part in try await store.partsHeld(byChild: child) where !kept.contains(part.part) {
            let recovery = journal.map { PartRecovery($0.results(.init(part: part.part, token: part.token))) }
            do {
                let released = try await store.releasePart(
                    part,
                    recovery: recovery ?? PartRecovery(),
                    ambiguousThroughMark: journal == nil || isTailLost,
                    waits: false
                )
                guard released else { continue }
                logger.info(
                    "Part \(part.part) of child \(child) is released, \(recovery?.ambiguous.count ?? 0) messages ambiguous",
                    metadata: ["child": "\(child)"]
                )
            } catch {
                trouble = error
            }
        }
        if let trouble { throw trouble }
        let left = try await store.partsHeld(byChild: child).map(\.part).filter { !kept.contains($0) }
        guard left.isEmpty else {
            throw StoreError(.conflict, "Other transactions hold locks of parts \(left) or of their deliveries.")
        }
    }
}
