import Foundation
import Logging
import PostgresClient
import ProcessEvents
import PushCore
import Store
import Synchronization
import TrackingSpools

/// Stores hits: many in one transaction, or on disk while the database is away; each once, in the order in which they came.
///
/// The transactions of a process are numbered, and the database keeps the number with the hits. So one whose end nobody heard
/// can be stored again from the spool. As a later number would make an earlier one void, hits go around the spool only while it
/// is empty and no statement is under way.
final class TrackingWriter: Sendable {
    /// What waits for a transaction.
    enum Item: Sendable {
        case hit(TrackingHit, ResolvedHit?)
        /// Report what was dropped, though there is no hit to store.
        case report
    }

    struct State: Sendable {
        var position: Int64 = 0
        /// Not reported yet.
        var dropped = DroppedHits()
        /// The last statement that was sent; until it is over no other is.
        var attempt: Attempt<[Int]?>?
        /// What goes with records that are in the spool.
        var spooledDrops: [Int64: DroppedHits] = [:]
        /// What the log says of hits that are refused, and of those that are not stored at once.
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

    /// Hits that wait for their transaction.
    var waiting: Int { group.withLock { $0?.waiting ?? 0 } }

    /// Waits until the hit is stored, or known to be none of ours.
    func submit(_ hit: TrackingHit) async -> TrackingDecision {
        await withCheckedContinuation { continuation in
            submit(hit) { continuation.resume(returning: $0) }
        }
    }

    /// Tells what became of a hit when it is stored, or known to be none of ours; from whatever thread.
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

    /// Has what was dropped reported, if anything was and no hit takes it along.
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
            // A statement whose end is not known may have reported them; without its hits the count says nothing anyway.
            let told = state.withLock { state in
                state.dropped += dropped
                return state.refusals.add(record.hits.count)
            }
            if let told {
                logger.failure("Hits are refused, \(told) since the last such line", of: error, level: .error)
            }
            return items.map { _ in .unavailable }
        }
    }
}

extension TrackingWriter {
    /// Attempts that meet another process with the same messages; each of them is over in milliseconds.
    private static let mostConflicts = 8

    /// Whether no statement is under way.
    var isIdle: Bool { state.withLock { $0.attempt.map(\.isOver) ?? true } }

    /// Stores hits in the database; the places of unknown ones, nil if it is not known whether it has them.
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
                guard [.conflict, .locked].contains(DatabaseTrouble(error)), round < Self.mostConflicts else {
                    tell(hits.count, "the database does not take them: \(error)")
                    return nil
                }
                try? await Task.sleep(for: .milliseconds(Int.random(in: 1...5 * (round + 1))))
            case nil:
                tell(hits.count, "the database does not answer within \(limit)")
                return nil
            }
        }
        return nil
    }

    private func tell(_ count: Int, _ why: String) {
        guard let told = state.withLock({ $0.troubles.add(count) }) else { return }
        logger.warning(
            "Hits are kept in web.workingPath and loaded by themselves later, \(told) since the last such line: \(why)"
        )
    }

    /// Loads what is in the spool, in order, until it is empty, the database does not take it, or the time is over; returns how many
    /// hits.
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

/// Resolves message ids with the tracking keys that are kept here.
final class HitResolver: Sendable {
    private let keys: RefreshedValue<TrackingKeyring>

    init(store: Store, onFailure: @escaping @Sendable (any Error) -> Void) {
        keys = RefreshedValue(
            TrackingKeyring(),
            // Who waits for a connection would go on waiting when nobody waits for him any more.
            read: { store.isConnected ? try await store.trackingKeyring() : nil },
            onFailure: onFailure
        )
    }

    /// The keys as they were read last.
    var current: TrackingKeyring { keys.current }

    /// Resolves a hit; the database is asked only for an id that no key makes, and only of a day whose key may not be here.
    func resolve(_ hit: TrackingHit) async -> HitResult {
        if let result = result(hit) { return result }
        guard await keys.refresh() else { return .undecided }
        return result(hit) ?? .unknown
    }

    /// Reads the keys again; false if that was not possible.
    @discardableResult
    func refresh() async -> Bool {
        await keys.refresh()
    }

    /// What a hit is by the keys that are here; nil if newer ones may tell more.
    func result(_ hit: TrackingHit) -> HitResult? {
        HitResult(hit, keys.current)
    }
}

/// What became of a hit.
enum TrackingDecision: Sendable, Hashable {
    /// It is in the database.
    case stored
    /// It is on disk, and goes to the database as soon as that is back.
    case spooled
    /// No key makes the id, or no message has the number.
    case unknown
    /// The id is of another delivery than the request says.
    case foreign
    /// Neither database nor spool takes it.
    case unavailable
}
