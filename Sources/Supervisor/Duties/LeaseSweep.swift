import Logging
import ProcessEvents
import Store

/// Takes parts from lost owners on any host.
actor LeaseSweep {
    private let store: Store
    private let logger: Logger
    private let lease: Duration
    /// Whether a lease belongs to a dead child whose journal this supervisor replays itself.
    private let ownDead: @Sendable (LeaseObservation) async -> Bool
    private var watcher: LeaseWatcher
    /// The number of the connection that the last look used.
    private var connection: UInt64 = 0

    /// The time between two looks: several per lease, so that a lost part is taken soon after its lease has expired.
    let interval: Duration
    private static let maxInterval = Duration.seconds(1)
    private static let looksPerLease = 5

    init(store: Store, lease: Duration, logger: Logger, ownDead: @escaping @Sendable (LeaseObservation) async -> Bool) {
        self.store = store
        self.lease = lease
        self.logger = logger
        self.ownDead = ownDead
        interval = min(lease / Self.looksPerLease, Self.maxInterval)
        // A step counts for at most a little more than the interval: a look on a busy machine comes a little late.
        watcher = LeaseWatcher(lease: lease, maxStep: interval * 5 / 4)
    }

    /// One look at all leases.
    ///
    /// A part that cannot be taken, for example because another session has locked its delivery, does not hold up
    /// others. It stays lost, and the next look tries again.
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
            // A look that waited out an outage succeeds, but owners may reconnect a little later than this process.
            // They get a whole lease from here on.
            if store.connectionsMade != connection { watcher.interrupted() }
            connection = store.connectionsMade
            return leases
        } catch {
            watcher.interrupted()
            throw error
        }
    }

    /// Logs from which owners parts were taken: one line per owner and look, as an owner may have held hundreds.
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
            // Heartbeats and the look for work share this connection; the next look finds the part again.
            waits: false
        )
    }
}

/// Finds the parts of lost owners by this host's own monotonic clock.
///
/// A part is lost when this watcher itself has seen its token and renewal counter unchanged for a whole lease while the
/// database answered. It never compares another machine's time stamps, so a clock that jumps takes no part from its
/// owner.
///
/// Only the time between two consecutive successful looks counts, and each such step counts only up to a limit. A
/// longer step means that the database was slow or this process was stopped, so owners may not have been able to renew
/// either. A slow database slows the watch down, but does not reset it.
struct LeaseWatcher: Sendable {
    private struct Watch: Sendable {
        var lease: LeaseObservation
        /// How long it has been seen unchanged.
        var unchanged: Duration
    }

    private let lease: Duration
    private let maxStep: Duration
    private var watched: [Int64: Watch] = [:]
    private var lastLook: ContinuousClock.Instant?

    /// - Parameters:
    ///   - lease: how long an owner has to renew.
    ///   - maxStep: the maximum that the time between two looks counts.
    init(lease: Duration, maxStep: Duration) {
        self.lease = lease
        self.maxStep = maxStep
    }

    /// Takes all leases of one look and returns those that may be taken from their owners.
    ///
    /// - Parameter now: when the look began, so that the query's own time counts in the owner's favour.
    mutating func observe(_ leases: [LeaseObservation], at now: ContinuousClock.Instant) -> [LeaseObservation] {
        let step = lastLook.map { min(max(now - $0, .zero), maxStep) } ?? .zero
        lastLook = now
        var present: [Int64: Watch] = [:]
        present.reserveCapacity(leases.count)
        for seen in leases {
            let known = watched[seen.partID]
            // The token implies the owner.
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

    /// Starts over after a failed look: earlier sightings no longer count.
    mutating func interrupted() {
        watched.removeAll()
        lastLook = nil
    }
}
