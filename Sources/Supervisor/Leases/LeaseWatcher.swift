/// Finds the parts of lost owners, on this host's own monotonic clock.
///
/// A part counts as lost when this watcher itself has seen its token and renewal counter unchanged for a whole lease while the
/// database answered. No time stamp of another machine is compared with anything, so a clock that jumps steals nothing; and
/// time without the database counts for nothing, as owners could not renew in it either.
struct LeaseWatcher: Sendable {
    /// Two looks further apart than this are not one observation: the database was away, or this process was stopped.
    static let longestGap = Duration.seconds(5)

    private struct Watch: Sendable {
        var sighting: LeaseSighting
        var since: ContinuousClock.Instant
    }

    private let lease: Duration
    private var watched: [Int64: Watch] = [:]
    private var lastLook: ContinuousClock.Instant?

    /// - Parameter lease: how long an owner has to renew.
    init(lease: Duration) {
        self.lease = lease
    }

    /// Takes all the leases of one look at the database and returns those that may be taken from their owner.
    ///
    /// - Parameter now: when the look began, so that the time of the query itself counts for the owner.
    mutating func observe(_ sightings: [LeaseSighting], at now: ContinuousClock.Instant) -> [LeaseSighting] {
        if let lastLook, lastLook.advanced(by: Self.longestGap) < now { watched.removeAll() }
        lastLook = now
        var present: [Int64: Watch] = [:]
        present.reserveCapacity(sightings.count)
        for sighting in sightings {
            let known = watched[sighting.partID]
            present[sighting.partID] =
                known?.sighting == sighting ? known : Watch(sighting: sighting, since: now)
        }
        watched = present
        return present.values
            .filter { $0.since.advanced(by: lease) <= now }
            .map(\.sighting)
            .sorted { $0.partID < $1.partID }
    }

    /// Says that the database was away: what was seen before counts for nothing.
    mutating func interrupted() {
        watched.removeAll()
        lastLook = nil
    }
}
