import Logging
import ProcessEvents
import PushCore
import Store

/// Recovers what a dead child left behind: its journal's answers become rows, its parts become free.
actor JournalRecovery {
    /// How an attempt to recover what a child left ended.
    enum Result: Sendable, Equatable {
        case recovered
        /// Its journal is locked: the child lives, under another supervisor that is gone by now.
        case childIsAlive
        /// Another duty of this supervisor is at it.
        case underWay
        /// What lay in the place of its journal says nothing about it, and nothing was decided.
        case putAside
    }

    /// Facts that one transaction stores.
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

    /// Stores what the journal of a child says, releases its parts, removes the journal; can be repeated after an error.
    ///
    /// - Parameter isKnownDead: this supervisor knows that the child is dead, and not from the journal alone. Otherwise a
    ///   journal that cannot be read or is not ours is put aside and proves nothing: the child that its file is named after
    ///   may live on another host, and if not, its parts are taken when their leases have passed.
    func recover(child: Int64, isKnownDead: Bool) async throws -> Result {
        // The lock is no guard within one process that opens the file twice.
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
                // It died at its start, on a full disk for example: it writes the header before it claims anything.
                try file.remove()
                return .recovered
            }
            return try await setAside(file, .unreadable, "\(error)", child, isKnownDead: isKnownDead)
        }
        let decision = identity.judge(contents.header, ofChild: child)
        if case .foreign(let why) = decision {
            return try await setAside(file, .foreign, why, child, isKnownDead: isKnownDead)
        }
        // Asked for first, as what is stored now is told no length. After another boot a tail that is missing is nothing unusual.
        let told = try await store.journalLength(ofChild: child)
        let isOlder = decision == .ours && contents.damage == nil && contents.writtenLength < told
        let stored = await storeFacts(contents.summary, of: child)
        let isTailLost = decision == .ofEarlierBoot || contents.damage != nil || isOlder
        try await release(child, journal: contents.summary, isTailLost: isTailLost, but: stored.missing)
        if let trouble = stored.trouble { throw trouble }
        if isOlder {
            let text =
                "The journal \(file.path) is put aside: it ends at byte \(contents.writtenLength), but its child had written \(told), so it is an old copy. Its answers are stored; messages up to the mark that it does not answer are ambiguous"
            logger.event(.journalPutAside, "\(text)", ["child": "\(child)"])
            try file.putAside(.older)
        } else if let damage = contents.damage {
            let text = "The journal \(file.path) is put aside, its answers up to the damage are stored: \(damage)"
            logger.event(.journalPutAside, "\(text)", ["child": "\(child)"])
            try file.putAside(.unreadable)
        } else {
            try file.remove()
        }
        return .recovered
    }

    /// Puts a file aside that says nothing about the child.
    private func setAside(
        _ file: JournalFile,
        _ reason: JournalFile.Reason,
        _ why: String,
        _ child: Int64,
        isKnownDead: Bool
    ) async throws -> Result {
        let text = "The journal \(file.path) is not replayed and put aside (\(reason.rawValue)): \(why)"
        logger.event(.journalPutAside, "\(text)", ["child": "\(child)"])
        if isKnownDead { try await release(child, journal: nil) }
        try file.putAside(reason)
        return isKnownDead ? .recovered : .putAside
    }

    /// Stores the facts of each part; one that cannot be stored now, because somebody holds the lock of its delivery for
    /// example, stands in the way of no other part.
    ///
    /// - Returns: the parts of which facts are not stored, and why.
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
            // The connection is the supervisor's for heartbeats and the look for work, too: what is locked is tried again.
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

    /// Frees the parts that the child still holds, with what is known of their messages; one that cannot be freed now stands in
    /// the way of no other.
    ///
    /// - Parameters:
    ///   - journal: nil when there is none to be read: then every message up to the dispatch mark is ambiguous.
    ///   - isTailLost: the journal may lack its last records: then whatever it does not answer, up to the mark, is ambiguous.
    ///   - kept: parts that must not be freed, as the journal knows facts about them that are not stored: they would be sent again.
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
                    "Part \(part.part) of child \(child) is free again, \(recovery?.ambiguous.count ?? 0) messages ambiguous",
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
