import Foundation
import Logging
import PostgresClient
import PushCore
import Store
import Synchronization

extension TrackingWriter {
    /// Attempts that meet another process with the same messages; each of them is over in milliseconds.
    private static let mostConflicts = 8
    /// Failures in a row after which loading waits for its next turn.
    private static let mostRefusals = 3

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
                    logger.warning("\(hits.count) hits could not be stored: \(error)")
                    return nil
                }
                try? await Task.sleep(for: .milliseconds(Int.random(in: 1...5 * (round + 1))))
            case nil:
                logger.warning("The database does not answer within \(limit): \(hits.count) hits go to the spool.")
                return nil
            }
        }
        return nil
    }

    /// Loads what is in the spool, in order, until it is empty or the database does not take it; returns how many hits.
    @discardableResult
    func loadSpool() async -> Int {
        var loaded = 0
        var refusals = 0
        while !Task.isCancelled, store.isConnected, isIdle, let head = spool.head() {
            guard let (hits, dropped) = await resolve(head) else { return loaded }
            let unknown = await attempt(
                source: head.source,
                position: head.record.position,
                hits,
                dropped
            )
            guard let unknown else {
                refusals += 1
                guard store.isConnected, isIdle, refusals < Self.mostRefusals else { return loaded }
                continue
            }
            refusals = 0
            state.withLock { _ = $0.spooledDrops.removeValue(forKey: head.record.position) }
            spool.take(head)
            loaded += head.record.hits.count
            counters.add { numbers in
                numbers.loaded += hits.count - unknown.count
                numbers.expired += unknown.count
            }
        }
        return loaded
    }

    /// The hits of a record that are ours, and the counts of what is not; nil if that cannot be told now.
    private func resolve(_ head: TrackingSpool.Head) async -> ([ResolvedHit], DroppedHits)? {
        var hits: [ResolvedHit] = []
        var dropped =
            head.source == source
            ? state.withLock { $0.spooledDrops[head.record.position] } ?? DroppedHits() : DroppedHits()
        for hit in head.record.hits {
            switch await resolver.resolve(hit) {
            case .resolved(let resolved): hits.append(resolved)
            case .unknown: dropped.forged += 1
            case .foreign: dropped.foreign += 1
            case .undecided: return nil
            }
        }
        return (hits, dropped)
    }
}
