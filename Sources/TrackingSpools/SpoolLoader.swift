import PushCore
import Store

/// Puts into the database what is in a spool: in order, and each record once, whichever process does it.
///
/// The position of a record is stored with its hits, so that one that somebody has stored before changes nothing.
public struct SpoolLoader: Sendable {
    private let spool: TrackingSpool
    private let database: any HitStoring

    /// Failures in a row after which loading waits for its next turn.
    private static let mostRefusals = 3

    /// A loader of a spool.
    public init(_ spool: TrackingSpool, into database: any HitStoring) {
        self.spool = spool
        self.database = database
    }

    /// Loads until the spool is empty, the database does not take it, or the time is over; returns how many hits.
    ///
    /// An id that no key makes is looked up once for all that was in the spool then: keys are read before their ids are, so what
    /// came before a reading and is unknown after it is nobody's.
    @discardableResult
    public func load(until end: ContinuousClock.Instant? = nil) async -> Int {
        var loaded = 0
        var refusals = 0
        var mark: TrackingSpool.Mark?
        while !Task.isCancelled, end.map({ ContinuousClock.now < $0 }) ?? true, database.isReady,
            let head = spool.head()
        {
            guard let (hits, dropped) = await resolve(head, &mark) else { return loaded }
            guard let unknown = await database.store(head, hits, dropped) else {
                refusals += 1
                guard refusals < Self.mostRefusals else { return loaded }
                continue
            }
            refusals = 0
            spool.take(head)
            loaded += head.record.hits.count
            database.loaded(head, stored: hits.count - unknown.count, expired: unknown.count)
        }
        return loaded
    }

    /// The hits of a record that are ours, and the counts of what is not; nil if that cannot be told now.
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

/// What a ``SpoolLoader`` needs of its process: the database.
public protocol HitStoring: Sendable {
    /// Whether the next record may be stored now.
    var isReady: Bool { get }
    /// The tracking keys as they were read last.
    var keys: TrackingKeyring { get }

    /// Reads the keys again; false if the database is away.
    func refreshKeys() async -> Bool

    /// Stores what a record holds in one transaction; the places of hits that are of no message, nil if it is not known whether the
    /// database has them.
    func store(_ head: TrackingSpool.Head, _ hits: [ResolvedHit], _ dropped: DroppedHits) async -> [Int]?

    /// Told that a record is in the database: how many of its hits are stored, and how many are of days that are gone.
    func loaded(_ head: TrackingSpool.Head, stored: Int, expired: Int)
}

/// What a hit turned out to be.
public enum HitResult: Sendable {
    /// Of a message that is known, or known by its number.
    case resolved(ResolvedHit)
    /// No key makes its id.
    case unknown
    /// It is genuine, of another delivery than the request says.
    case foreign
    /// No key that is here makes it, and the database cannot be asked for newer ones.
    case undecided

    /// What a hit is by these keys; nil if newer ones may tell more.
    public init?(_ hit: TrackingHit, _ keys: TrackingKeyring) {
        switch keys.resolve(hit.id) {
        case .message(let delivery, let sequence, let logDay):
            self = .resolved(
                ResolvedHit(message: .known(delivery: delivery, sequence: sequence, logDay: logDay), hit: hit)
            )
        case .number(let number):
            self = .resolved(ResolvedHit(message: .numbered(number, deliveries: hit.id.deliveries), hit: hit))
        case .foreign: self = .foreign
        case .unknown:
            // An id that names no delivery is nobody's, whatever keys there will be.
            guard hit.id.deliveries.isEmpty || keys.isComplete(at: hit.microseconds) else { return nil }
            self = .unknown
        }
    }
}
