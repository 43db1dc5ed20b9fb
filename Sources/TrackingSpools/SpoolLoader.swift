import PushCore
import Store

/// Loads a spool into the database: in order, and each record once, whichever process does it.
///
/// The position of a record is stored with its hits, so a record stored before changes nothing.
package struct SpoolLoader: Sendable {
    private let spool: TrackingSpool
    private let database: any HitStoring

    /// Consecutive failures after which loading pauses until its next turn.
    private static let maxRefusals = 3

    package init(_ spool: TrackingSpool, into database: any HitStoring) {
        self.spool = spool
        self.database = database
    }

    /// Loads until the spool is empty, the database fails, or the time is over; returns the number of hits.
    ///
    /// When an id matches no key, the keys are read again, once for all records that were in the spool then. An id in
    /// those records that is still unknown after the reading is forged.
    @discardableResult
    package func load(until end: ContinuousClock.Instant? = nil) async -> Int {
        var loaded = 0
        var refusals = 0
        var mark: TrackingSpool.Mark?
        while !Task.isCancelled, end.map({ ContinuousClock.now < $0 }) ?? true, database.isReady,
            let head = spool.head()
        {
            guard let (hits, dropped) = await resolve(head, &mark) else { return loaded }
            guard let unknown = await database.store(head, hits, dropped) else {
                refusals += 1
                guard refusals < Self.maxRefusals else { return loaded }
                continue
            }
            refusals = 0
            spool.take(head)
            loaded += head.record.hits.count
            database.loaded(head, stored: hits.count - unknown.count, expired: unknown.count)
        }
        return loaded
    }

    /// The genuine hits of a record, and the counts of the others; nil if that cannot be decided now.
    private func resolve(
        _ head: TrackingSpool.Head,
        _ mark: inout TrackingSpool.Mark?
    ) async -> ([ResolvedHit], DroppedHits)? {
        var hits: [ResolvedHit] = []
        var dropped = DroppedHits()
        var keys = database.keys
        for hit in head.record.hits {
            var result = HitResult(hit, keys)
            if result == nil, mark?.includes(head) != true {
                let now = spool.mark()
                guard await database.refreshKeys() else { return nil }
                mark = now
                keys = database.keys
                result = HitResult(hit, keys)
            }
            switch result {
            case .resolved(let resolved): hits.append(resolved)
            case .foreign: dropped.foreign += 1
            case .unknown, nil: dropped.forged += 1
            case .undecided: return nil
            }
        }
        return (hits, dropped)
    }
}
