import Logging
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Renews the leases of the parts of this child, from their claim on, and says when it must stop sending because it may have lost them.
///
/// The judgement is made on this process's own monotonic clock (``LeaseClock``): a renewal counts from the moment when it was
/// asked for, so that nobody can have taken a part while this child believes in it.
final class LeaseRenewal: Sendable {
    /// Sending stops this long before the lease ends: time for what is already with the kernel.
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

    /// A claim was asked for at a moment, while nothing else was held: its lease is all that matters.
    func claimed(at moment: ContinuousClock.Instant) {
        extend(from: moment)
    }

    private func extend(from moment: ContinuousClock.Instant) {
        sender.lease.extend(until: moment + .seconds(settings.durationSec) - Self.margin)
        // A renewal whose answer came after its own lease renews nothing.
        if sender.lease.isValid { sender.perform(.leaseValid(true)) }
    }

    /// Renews and watches until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.renewLoop() }
            group.addTask { await self.watchLoop() }
        }
    }

    /// Looks by itself, as a renewal waits for the database however long that takes.
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
            // A part that is loaded is with the dispatch state before it is not here any more. What is being given back is still this child's,
            // until the database has heard of it.
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
            // At the end of the child everything under way is cancelled, which is no trouble.
            if !Task.isCancelled { logger.failure("the leases of \(held.count) parts could not be renewed", of: error) }
            return false
        }
    }

    /// The database does not name these parts among the child's any more.
    func loseParts(_ missing: [PartToken]) {
        loading.giveUp { part, _ in missing.contains(part) }
        if !missing.isEmpty { sender.perform(.leasesLost(Set(missing))) }
    }
}
