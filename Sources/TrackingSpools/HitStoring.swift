import PushCore
import Store

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
