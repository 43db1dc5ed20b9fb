import Foundation
import Logging
import PostgresClient
import ProcessEvents
import PushCore
import Store
import Synchronization
import TrackingSpools

/// Stores hits, many in one transaction, or on disk while the database is unreachable. Each is stored once, in the
/// order of arrival.
///
/// The transactions of a process are numbered, and the database keeps the number with the hits. So a transaction whose
/// outcome is unknown can safely be stored again from the spool. Storing a later number would void an earlier one. Hits
/// therefore bypass the spool only while it is empty and no statement is running.
final class TrackingWriter: Sendable {
    /// An item that waits for a transaction.
    enum Item: Sendable {
        case hit(TrackingHit, ResolvedHit?)
        /// Reports the dropped hits although there is no hit to store.
        case report
    }

    struct State: Sendable {
        var position: Int64 = 0
        /// Dropped hits that are not reported yet.
        var dropped = DroppedHits()
        /// The last statement; no other is sent until it has ended.
        var attempt: Attempt<[Int]?>?
        /// Dropped hits to report with records in the spool, by position.
        var spooledDrops: [Int64: DroppedHits] = [:]
        /// The pace of log lines about refused hits, and about hits that are not stored at once.
        var refusals = NoticePace()
        var troubles = NoticePace()
    }

    let store: Store
    let resolver: HitResolver
    let spool: TrackingSpool
    let source: UUID
    let host: String
    let limit: Duration
    let counters: WebCounters
    let logger: Logger
    let state = Mutex(State())
    private let group = Mutex<GroupCommitter<Item, TrackingDecision>?>(nil)

    init(
        store: Store,
        resolver: HitResolver,
        spool: TrackingSpool,
        source: UUID,
        host: String,
        settings: WebTrackingSettings,
        counters: WebCounters,
        logger: Logger
    ) {
        self.store = store
        self.resolver = resolver
        self.spool = spool
        self.source = source
        self.host = host
        self.counters = counters
        self.logger = logger
        limit = .milliseconds(settings.databaseTimeoutMs)
        let committer = GroupCommitter<Item, TrackingDecision>(
            batchSize: settings.batchSize,
            capacity: settings.maxWaiting,
            delay: .milliseconds(settings.batchDelayMs)
        ) { [weak self] items in
            await self?.store(items) ?? []
        }
        group.withLock { $0 = committer }
    }

    /// The number of hits that wait for their transaction.
    var waiting: Int { group.withLock { $0?.waiting ?? 0 } }

    /// Waits until the hit is stored or known to be invalid.
    func submit(_ hit: TrackingHit) async -> TrackingDecision {
        await withCheckedContinuation { continuation in
            submit(hit) { continuation.resume(returning: $0) }
        }
    }

    /// Calls `answer` on any thread when the hit is stored or known to be invalid.
    func submit(_ hit: TrackingHit, answer: @escaping @Sendable (TrackingDecision) -> Void) {
        if let result = resolver.result(hit) {
            finish(hit, result, answer)
        } else {
            Task { finish(hit, await resolver.resolve(hit), answer) }
        }
    }

    private func finish(
        _ hit: TrackingHit,
        _ result: HitResult,
        _ answer: @escaping @Sendable (TrackingDecision) -> Void
    ) {
        switch result {
        case .resolved(let resolved): enqueue(.hit(hit, resolved), answer)
        case .undecided: enqueue(.hit(hit, nil), answer)
        case .unknown:
            drop(DroppedHits(forged: 1))
            answer(.unknown)
        case .foreign:
            drop(DroppedHits(foreign: 1))
            answer(.foreign)
        }
    }

    /// Counts hits that are not stored.
    func drop(_ hits: DroppedHits) {
        counters.add { $0.dropped += hits }
        state.withLock { $0.dropped += hits }
    }

    /// Reports the dropped hits, if there are any, even without a hit to store.
    func report() async {
        guard state.withLock({ !$0.dropped.isEmpty }), store.isConnected else { return }
        await withCheckedContinuation { continuation in
            enqueue(.report) { _ in continuation.resume() }
        }
    }

    private func enqueue(_ item: Item, _ answer: @escaping @Sendable (TrackingDecision) -> Void) {
        guard let committer = group.withLock({ $0 }) else { return answer(.unavailable) }
        committer.submit(item) { answer($0 ?? .unavailable) }
    }

    /// Stores all in one transaction.
    private func store(_ items: [Item]) async -> [TrackingDecision] {
        var hits: [TrackingHit] = []
        var resolved: [ResolvedHit] = []
        for case .hit(let hit, let known) in items {
            hits.append(hit)
            if let known { resolved.append(known) }
        }
        let isResolved = resolved.count == hits.count
        guard !hits.isEmpty || (spool.isEmpty && isIdle) else { return items.map { _ in .stored } }
        let (position, dropped) = state.withLock { state -> (Int64, DroppedHits) in
            state.position += 1
            defer { state.dropped = DroppedHits() }
            return (state.position, state.dropped)
        }
        if isResolved, spool.isEmpty, isIdle, store.isConnected,
            let unknown = await attempt(source: source, position: position, resolved, dropped)
        {
            return answers(items, hits: hits.count, unknown: Set(unknown))
        }
        return keep(TrackingSpoolRecord(position: position, hits: hits), dropped, for: items)
    }

    private func answers(_ items: [Item], hits: Int, unknown: Set<Int>) -> [TrackingDecision] {
        counters.add { numbers in
            numbers.hits += hits - unknown.count
            numbers.expired += unknown.count
        }
        var place = -1
        return items.map { item in
            guard case .hit = item else { return .stored }
            place += 1
            return unknown.contains(place) ? .unknown : .stored
        }
    }

    /// Puts hits into the spool.
    private func keep(
        _ record: TrackingSpoolRecord,
        _ dropped: DroppedHits,
        for items: [Item]
    ) -> [TrackingDecision] {
        do {
            try spool.append(record)
            if !dropped.isEmpty { state.withLock { $0.spooledDrops[record.position] = dropped } }
            counters.add { $0.spooled += record.hits.count }
            return items.map { _ in .spooled }
        } catch {
            // A statement with an unknown outcome may already have reported them. Without its hits the count means
            // little anyway.
            let told = state.withLock { state in
                state.dropped += dropped
                return state.refusals.add(record.hits.count)
            }
            if let told {
                logger.failure("Hits were refused, \(told) since the last such line", of: error, level: .error)
            }
            return items.map { _ in .unavailable }
        }
    }
}

extension TrackingWriter {
    /// The maximum number of retries after a conflict with another process over the same messages; each takes
    /// milliseconds.
    private static let maxConflicts = 8

    /// Whether no statement is running.
    var isIdle: Bool { state.withLock { $0.attempt.map(\.isOver) ?? true } }

    /// Stores hits in the database; returns the indexes of unknown ones, or nil if the outcome is unknown.
    func attempt(
        source: UUID,
        position: Int64,
        _ hits: [ResolvedHit],
        _ dropped: DroppedHits
    ) async -> [Int]? {
        for round in 0... {
            let attempt = Attempt<[Int]?>()
            state.withLock { $0.attempt = attempt }
            let result = await attempt.run(within: limit) { [store, host] in
                try await store.recordHits(source: source, position: position, host: host, hits, dropped: dropped)
            }
            switch result {
            case .success(let unknown): return unknown ?? []
            case .failure(let error):
                guard [.conflict, .locked].contains(DatabaseTrouble(error)), round < Self.maxConflicts else {
                    tell(hits.count, "the database did not store them: \(error)")
                    return nil
                }
                try? await Task.sleep(for: .milliseconds(Int.random(in: 1...5 * (round + 1))))
            case nil:
                tell(hits.count, "the database did not answer within \(limit)")
                return nil
            }
        }
        return nil
    }

    private func tell(_ count: Int, _ why: String) {
        guard let told = state.withLock({ $0.troubles.add(count) }) else { return }
        logger.warning(
            "Hits were saved in web.workingPath and will be loaded automatically, \(told) since the last such line: \(why)"
        )
    }

    /// Loads the spool in order until it is empty, a store fails or the time has passed; returns the number of hits.
    @discardableResult
    func loadSpool(until end: ContinuousClock.Instant? = nil) async -> Int {
        await SpoolLoader(spool, into: self).load(until: end)
    }
}

extension TrackingWriter: HitStoring {
    var isReady: Bool { store.isConnected && isIdle }

    var keys: TrackingKeyring { resolver.current }

    func refreshKeys() async -> Bool { await resolver.refresh() }

    func store(_ head: TrackingSpool.Head, _ hits: [ResolvedHit], _ dropped: DroppedHits) async -> [Int]? {
        var dropped = dropped
        if head.source == source, let more = state.withLock({ $0.spooledDrops[head.record.position] }) {
            dropped += more
        }
        return await attempt(source: head.source, position: head.record.position, hits, dropped)
    }

    func loaded(_ head: TrackingSpool.Head, stored: Int, expired: Int) {
        if head.source == source { state.withLock { _ = $0.spooledDrops.removeValue(forKey: head.record.position) } }
        counters.add { numbers in
            numbers.loaded += stored
            numbers.expired += expired
        }
    }
}

/// The result of a hit.
enum TrackingDecision: Sendable, Hashable {
    /// It is in the database.
    case stored
    /// It is on disk, and is loaded once the database is reachable.
    case spooled
    /// The id matches no key, or no message has its number.
    case unknown
    /// The id belongs to another delivery than the request names.
    case foreign
    /// Neither the database nor the spool could store it.
    case unavailable
}
