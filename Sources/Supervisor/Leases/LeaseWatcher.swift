/// Finds the parts of lost owners, on this host's own monotonic clock.
///
/// A part counts as lost when this watcher itself has seen its token and renewal counter unchanged for a whole lease while the
/// database answered. No time stamp of another machine is compared with anything, so a clock that jumps steals nothing. What
/// counts is the time between two looks that succeeded one after the other, and of each such step only a little: in a
/// longer one the database was slow or this process stopped, and owners could perhaps not renew either. So a slow database
/// makes the watch slower and does not set it back.
struct LeaseWatcher: Sendable {
    private struct Watch: Sendable {
        var sighting: LeaseSighting
        /// For how long it has been seen like this.
        var unchanged: Duration
    }

    private let lease: Duration
    private let longestStep: Duration
    private var watched: [Int64: Watch] = [:]
    private var lastLook: ContinuousClock.Instant?

    /// - Parameters:
    ///   - lease: how long an owner has to renew.
    ///   - longestStep: the most that the time between two looks counts.
    init(lease: Duration, longestStep: Duration) {
        self.lease = lease
        self.longestStep = longestStep
    }

    /// Takes all the leases of one look at the database and returns those that may be taken from their owner.
    ///
    /// - Parameter now: when the look began, so that the time of the query itself counts for the owner.
    mutating func observe(_ sightings: [LeaseSighting], at now: ContinuousClock.Instant) -> [LeaseSighting] {
        let step = lastLook.map { min(max(now - $0, .zero), longestStep) } ?? .zero
        lastLook = now
        var present: [Int64: Watch] = [:]
        present.reserveCapacity(sightings.count)
        for sighting in sightings {
            let known = watched[sighting.partID]
            let unchanged = known?.sighting == sighting ? (known?.unchanged ?? .zero) + step : .zero
            present[sighting.partID] = Watch(sighting: sighting, unchanged: unchanged)
        }
        watched = present
        return present.values
            .filter { $0.unchanged >= lease }
            .map(\.sighting)
            .sorted { $0.partID < $1.partID }
    }

    /// Says that a look failed: what was seen before counts for nothing.
    mutating func interrupted() {
        watched.removeAll()
        lastLook = nil
    }
}
