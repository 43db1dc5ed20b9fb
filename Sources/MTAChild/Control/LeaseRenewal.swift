import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Renews the leases of this child's parts from their claim on, and reports when the child must stop sending because it
/// may have lost them.
///
/// The decision uses this process's own monotonic clock (``LeaseClock``). A renewal counts from when it was requested,
/// so no other owner can have taken a part while this child still believes that it holds it.
final class LeaseRenewal: Sendable {
    /// Sending stops this long before the lease ends, which leaves time for data already in the kernel.
    private static let margin = Duration.seconds(1)

    private let store: Store
    private let sender: Sender
    private let loading: LoadingParts
    private let childID: Int64
    private let settings: LeaseSettings
    private let logger: Logger

    init(
        store: Store,
        sender: Sender,
        loading: LoadingParts,
        childID: Int64,
        settings: LeaseSettings,
        logger: Logger
    ) {
        self.store = store
        self.sender = sender
        self.loading = loading
        self.childID = childID
        self.settings = settings
        self.logger = logger
    }

    /// Notes a claim requested at a moment when nothing else was held: its lease alone counts.
    func claimed(at moment: ContinuousClock.Instant) {
        extend(from: moment)
    }

    private func extend(from moment: ContinuousClock.Instant) {
        sender.lease.extend(until: moment + .seconds(settings.durationSec) - Self.margin)
        // A renewal answered after its own lease has expired renews nothing.
        if sender.lease.isValid { sender.perform(.leaseValid(true)) }
    }

    /// Renews and watches until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.renewLoop() }
            group.addTask { await self.watchLoop() }
        }
    }

    /// Checks the lease in a separate task, because a renewal may wait for the database for any time.
    private func watchLoop() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(250))
            let seen = sender.snapshot
            if seen.holdsLeases, seen.admission.isLeaseValid, !sender.lease.isValid {
                sender.perform(.leaseValid(false))
            }
        }
    }

    private func renewLoop() async {
        var next = ContinuousClock.now
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(250))
            let now = ContinuousClock.now
            // A loaded part is in the dispatch state before it leaves this list. A part being given back is still this
            // child's until the database has it.
            let loaded = loading.tokens
            let work = sender.work
            let held = Array(loaded.union(work.releasing).union(work.held))
            if held.isEmpty { next = now }
            guard !held.isEmpty, now >= next else { continue }
            next = now + (await renew(held, at: now) ? .seconds(settings.renewalSec) : .seconds(1))
        }
    }

    private func renew(_ held: [PartToken], at moment: ContinuousClock.Instant) async -> Bool {
        do {
            let kept = try await store.renewLeases(child: childID, held)
            loseParts(held.filter { !kept.contains($0.part) })
            extend(from: moment)
            return true
        } catch {
            // When the child ends, running statements are cancelled, which is not a failure.
            if !Task.isCancelled { logger.failure("the leases of \(held.count) parts could not be renewed", of: error) }
            return false
        }
    }

    /// Drops parts that the database no longer lists as this child's.
    func loseParts(_ missing: [PartToken]) {
        loading.giveUp { part, _ in missing.contains(part) }
        if !missing.isEmpty { sender.perform(.leasesLost(Set(missing))) }
    }
}
