import PushCore
import Store

/// The database access that a ``SpoolLoader`` needs.
package protocol HitStoring: Sendable {
    /// Whether the next record may be stored now.
    var isReady: Bool { get }
    /// The tracking keys as last read.
    var keys: TrackingKeyring { get }

    /// Reads the keys again; false if the database is unavailable.
    func refreshKeys() async -> Bool

    /// Stores the hits of a record in one transaction. Returns the indexes of hits whose message does not exist, nil if
    /// it is unknown whether the hits were stored.
    func store(_ head: TrackingSpool.Head, _ hits: [ResolvedHit], _ dropped: DroppedHits) async -> [Int]?

    /// Called after a record was stored: how many of its hits are stored, and how many belong to days that no longer
    /// exist.
    func loaded(_ head: TrackingSpool.Head, stored: Int, expired: Int)
}
