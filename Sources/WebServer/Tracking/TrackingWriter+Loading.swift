import Foundation
import Logging
import PostgresClient
import PushCore
import Store
import Synchronization
import TrackingSpools

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
                guard DatabaseTrouble(error) == .conflict, round < Self.mostConflicts else {
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
