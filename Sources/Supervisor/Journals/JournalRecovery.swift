import Logging
import PushCore
import Store

/// Settles what a dead child left behind: its journal's answers become rows, its parts become free.
actor JournalRecovery {
    /// How an attempt to settle a child's affairs ended.
    enum Result: Sendable, Equatable {
        case settled
        /// Its journal is locked: the child lives, under another supervisor that is gone by now.
        case childIsAlive
    }

    /// Facts that one transaction stores.
    private static let batchSize = 1_000

    private let folder: HostFolder
    private let store: Store
    private let logger: Logger
    private let condition: HostCondition
    private var underWay: Set<Int64> = []

    init(folder: HostFolder, store: Store, logger: Logger, condition: HostCondition) {
        self.folder = folder
        self.store = store
        self.logger = logger
        self.condition = condition
    }

    /// Stores what the journal of a child says, releases its parts, removes the journal; can be repeated after an error.
    func settle(child: Int64) async throws -> Result {
        // The lock is no guard within one process that opens the file twice.
        guard underWay.insert(child).inserted else { return .childIsAlive }
        defer { underWay.remove(child) }
        switch try JournalFile.take(folder.journal(ofChild: child)) {
        case .alive:
            return .childIsAlive
        case .missing:
            try await release(child, journal: nil)
        case .taken(let file):
            try await replay(file, of: child)
        }
        return .settled
    }

    private func replay(_ file: JournalFile, of child: Int64) async throws {
        let summary: JournalSummary?
        do {
            summary = try file.read()
        } catch let error as JournalError {
            logger.error("The journal \(file.path) of child \(child) cannot be replayed: \(error)")
            condition.update { $0.unreadableJournals += 1 }
            summary = nil
        }
        if let summary { try await storeFacts(summary, of: child) }
        try await release(child, journal: summary)
        if summary == nil { try file.putAside() } else { try file.remove() }
    }

    private func storeFacts(_ summary: JournalSummary, of child: Int64) async throws {
        for holding in summary.holdings.sorted(by: { $0.part < $1.part }) {
            let facts = summary.findings(holding).facts
            for start in stride(from: 0, to: facts.count, by: Self.batchSize) {
                let batch = facts[start..<min(start + Self.batchSize, facts.count)]
                let report = try await store.storeFacts(OutcomeBatch(holding, batch))
                condition.update { $0.journalReplayed += Int64(report.inserted) }
                logger.info("Child \(child): \(report.inserted) answers for part \(holding.part) came from its journal")
            }
        }
    }

    /// Frees the parts that the child still holds, with what is known of their messages.
    ///
    /// - Parameter journal: nil when there is none to be read: then every message up to the dispatch mark is ambiguous.
    private func release(_ child: Int64, journal: JournalSummary?) async throws {
        for part in try await store.partsHeld(byChild: child) {
            let recovery = journal.map { PartRecovery($0.findings(.init(part: part.part, token: part.token))) }
            let released = try await store.releasePart(
                part,
                recovery: recovery ?? PartRecovery(),
                ambiguousThroughMark: journal == nil
            )
            if released {
                logger.info(
                    "Part \(part.part) of child \(child) is free again, \(recovery?.ambiguous.count ?? 0) messages ambiguous"
                )
            }
        }
    }
}
