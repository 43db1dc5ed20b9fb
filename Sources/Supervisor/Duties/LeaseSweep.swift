import Logging
import ProcessEvents
import Store

/// Takes parts from owners that are lost, whichever host they were on.
actor LeaseSweep {
    private let store: Store
    private let logger: Logger
    private let lease: Duration
    /// Children whose journals this supervisor recovers itself, from their journals.
    private let ownDead: @Sendable (LeaseObservation) async -> Bool
    private var watcher: LeaseWatcher
    /// The connection of the last look, by its number.
    private var connection: UInt64 = 0

    /// The time between two looks: several in each lease, so that a lost part is taken soon after the lease has passed.
    let interval: Duration
    private static let longestInterval = Duration.seconds(1)
    private static let looksPerLease = 5

    init(store: Store, lease: Duration, logger: Logger, ownDead: @escaping @Sendable (LeaseObservation) async -> Bool) {
        self.store = store
        self.lease = lease
        self.logger = logger
        self.ownDead = ownDead
        interval = min(lease / Self.looksPerLease, Self.longestInterval)
        // No step counts for much more than one that went as it should; a look on a busy machine comes a little late.
        watcher = LeaseWatcher(lease: lease, longestStep: interval * 5 / 4)
    }

    /// One look at all leases.
    ///
    /// A part that cannot be taken, because somebody holds the lock of its delivery for example, stands in the way of no other
    /// one; it stays lost, and the next look tries again.
    func look() async throws {
        let now = ContinuousClock.now
        let lost = watcher.observe(try await leases(), at: now)
        var failure: (any Error)?
        var taken: [LeaseObservation] = []
        for lease in lost {
            do {
                if try await take(lease) { taken.append(lease) }
            } catch {
                failure = error
            }
        }
        await tell(taken)
        if let failure { throw failure }
    }

    private func leases() async throws -> [LeaseObservation] {
        do {
            let leases = try await store.leases()
            // A look that waited for the end of an outage succeeds, and owners may be back a little later than this process: they
            // have a whole lease from here on.
            if store.connectionsMade != connection { watcher.interrupted() }
            connection = store.connectionsMade
            return leases
        } catch {
            watcher.interrupted()
            throw error
        }
    }

    /// Says of which owners parts were taken: once an owner and look, as it may have had hundreds.
    private func tell(_ taken: [LeaseObservation]) async {
        guard !taken.isEmpty else { return }
        let hosts = (try? await store.hosts()) ?? []
        for (owner, parts) in Dictionary(grouping: taken, by: \.owner).sorted(by: { $0.key < $1.key }) {
            let id = parts.first?.hostID ?? ""
            let host = hosts.first { $0.report.id == id }?.report.name ?? id
            logger.event(
                .takeover,
                "\(parts.count) parts were taken from child \(owner) of host \(host), which has not renewed its leases for \(lease)",
                ["child": "\(owner)", "owner_host": "\(host)", "parts": "\(parts.count)"]
            )
            logger.debug("Taken from child \(owner): parts \(parts.map { String($0.partID) }.joined(separator: ", "))")
        }
    }

    /// - Returns: whether the part was taken from its owner.
    private func take(_ lost: LeaseObservation) async throws -> Bool {
        if await ownDead(lost) { return false }
        let part = PartToken(part: lost.partID, token: lost.token)
        return try await store.releasePart(
            part,
            ambiguousThroughMark: true,
            renewal: lost.renewal,
            // Heartbeats and the look for work share the connection; the next look finds the part again.
            waits: false
        )
    }
}

/// Finds the parts of lost owners, on this host's own monotonic clock.
///
/// A part counts as lost when this watcher itself has seen its token and renewal counter unchanged for a whole lease while the
/// database answered. No time stamp of another machine is compared with anything, so a clock that jumps steals nothing. What
/// counts is the time between two looks that succeeded one after the other, and of each such step only a little: in a
/// longer one the database was slow or this process stopped, and owners could perhaps not renew either. So a slow database
/// makes the watch slower and does not set it back.
struct LeaseWatcher: Sendable {
    private struct Watch: Sendable {
        var lease: LeaseObservation
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
    mutating func observe(_ leases: [LeaseObservation], at now: ContinuousClock.Instant) -> [LeaseObservation] {
        let step = lastLook.map { min(max(now - $0, .zero), longestStep) } ?? .zero
        lastLook = now
        var present: [Int64: Watch] = [:]
        present.reserveCapacity(leases.count)
        for seen in leases {
            let known = watched[seen.partID]
            // Whose it is follows from the token.
            let isSame = known.map { $0.lease.token == seen.token && $0.lease.renewal == seen.renewal } ?? false
            let unchanged = isSame ? (known?.unchanged ?? .zero) + step : .zero
            present[seen.partID] = Watch(lease: seen, unchanged: unchanged)
        }
        watched = present
        return present.values
            .filter { $0.unchanged >= lease }
            .map(\.lease)
            .sorted { $0.partID < $1.partID }
    }

    /// Says that a look failed: what was seen before counts for nothing.
    mutating func interrupted() {
        watched.removeAll()
        lastLook = nil
    }
}
