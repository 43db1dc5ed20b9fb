import Content
import Logging
import PostgresClient
import ProcessEvents
import PushCore
import Store
import Synchronization

/// Stores registrations, many in one transaction.
final class RegistrationWriter: Sendable {
    private let store: Store
    private let limit: Duration
    private let counters: WebCounters
    private let logger: Logger
    private let group = Mutex<GroupCommitter<PlacedRegistration, RegistrationDecision>?>(nil)
    /// A statement that is still running after its time limit.
    private let stuck = Mutex<Attempt<RegistrationReport>?>(nil)
    private let looksUntil = Mutex<ContinuousClock.Instant?>(nil)

    /// The maximum number of retries after a conflict over the same subscriptions; each takes milliseconds.
    private static let maxConflicts = 8
    /// The maximum number of retries if something other than a device's row is locked. Each takes 100 ms and holds up
    /// other registrations.
    private static let maxLocks = 2
    /// How long rows are checked for locks before they are changed, after another transaction held one. The check does
    /// not wait, whereas an attempt to change a locked row holds up all others for 100 ms.
    private static let lookTime = Duration.seconds(10)
    /// The pause before a device whose row is locked is tried again, after others. The retries take 2 s in total, like
    /// all lock waits of the engine.
    private static let busyPause = Duration.milliseconds(250)
    private static let maxBusyTries = 8
    /// The pause between retries while the database is unreachable.
    private static let retryPause = Duration.milliseconds(50)

    init(store: Store, settings: WebRegistrationSettings, counters: WebCounters, logger: Logger) {
        self.store = store
        self.counters = counters
        self.logger = logger
        limit = .seconds(settings.timeoutSec)
        let committer = GroupCommitter<PlacedRegistration, RegistrationDecision>(
            batchSize: settings.batchSize,
            capacity: settings.maxWaiting,
            delay: .milliseconds(settings.batchDelayMs)
        ) { [weak self] registrations in
            guard let self else { return [] }
            let deadline = ContinuousClock.now + self.limit
            var decisions: [RegistrationDecision] = []
            for group in PlacedRegistration.groups(registrations) {
                decisions += await self.storeFree(PlacedRegistration.completed(group), until: deadline)
            }
            return decisions
        }
        group.withLock { $0 = committer }
    }

    /// The number of registrations that wait for their transaction.
    var waiting: Int { group.withLock { $0?.waiting ?? 0 } }

    /// Waits until the registration is committed or refused.
    func submit(_ registration: PlacedRegistration) async -> RegistrationDecision {
        await withCheckedContinuation { continuation in
            submit(registration) { continuation.resume(returning: $0) }
        }
    }

    /// Calls `answer` on any thread when the registration is committed or refused.
    func submit(_ registration: PlacedRegistration, answer: @escaping @Sendable (RegistrationDecision) -> Void) {
        guard let committer = group.withLock({ $0 }) else { return answer(.unavailable) }
        if registration.dropped > 0 { counters.add { $0.cut += 1 } }
        submit(registration, to: committer, triesLeft: Self.maxBusyTries, answer: answer)
    }

    private func submit(
        _ registration: PlacedRegistration,
        to committer: GroupCommitter<PlacedRegistration, RegistrationDecision>,
        triesLeft: Int,
        answer: @escaping @Sendable (RegistrationDecision) -> Void
    ) {
        committer.submit(registration) { decision in
            guard decision == .busy, triesLeft > 0 else {
                if decision == .busy {
                    self.logger.warning("A registration was refused: another transaction has locked its device's row")
                }
                return answer(decision ?? .unavailable)
            }
            Task {
                try? await Task.sleep(for: Self.busyPause)
                self.submit(registration, to: committer, triesLeft: triesLeft - 1, answer: answer)
            }
        }
    }

    /// Stores registrations; while rows were recently locked, first checks which ones are.
    private func storeFree(
        _ registrations: [PlacedRegistration],
        until deadline: ContinuousClock.Instant
    ) async -> [RegistrationDecision] {
        guard looksUntil.withLock({ $0.map { .now < $0 } ?? false }) else {
            return await store(registrations, until: deadline)
        }
        return await storeAround(
            await busy(registrations, until: deadline),
            registrations,
            until: deadline
        )
    }

    /// The indexes of registrations whose rows are locked; empty if the server does not answer in time.
    private func busy(
        _ registrations: [PlacedRegistration],
        until deadline: ContinuousClock.Instant
    ) async -> Set<Int> {
        let rest = max(deadline - .now, Self.retryPause)
        let look = await Attempt<Set<Int>>().run(within: rest) { [store] in
            try await store.busyRegistrations(registrations)
        }
        return (try? look?.get()) ?? []
    }

    private func storeAround(
        _ busy: Set<Int>,
        _ registrations: [PlacedRegistration],
        until deadline: ContinuousClock.Instant
    ) async -> [RegistrationDecision] {
        guard !busy.isEmpty else { return await store(registrations, until: deadline) }
        looksUntil.withLock { $0 = .now + Self.lookTime }
        let free = registrations.indices.filter { !busy.contains($0) }
        let stored = free.isEmpty ? [] : await store(free.map { registrations[$0] }, until: deadline)
        var decisions = registrations.map { _ in RegistrationDecision.busy }
        for (place, decision) in zip(free, stored) { decisions[place] = decision }
        return decisions
    }

    private func store(
        _ registrations: [PlacedRegistration],
        until deadline: ContinuousClock.Instant
    ) async -> [RegistrationDecision] {
        var conflicts = 0
        while true {
            let failure: any Error
            switch await attempt(registrations, until: deadline) {
            case .success(let report):
                counters.add(report)
                return registrations.map { _ in .stored }
            case nil:
                return registrations.map { _ in .unavailable }
            case .failure(let error):
                failure = error
            }
            switch DatabaseTrouble(failure) {
            case .conflict where conflicts < Self.maxConflicts:
                conflicts += 1
                try? await Task.sleep(for: .milliseconds(Int.random(in: 1...5 * conflicts)))
            case .value:
                return await divide(registrations, until: deadline, because: failure)
            case .locked where conflicts < Self.maxLocks:
                conflicts += 1
                let busy = await busy(registrations, until: deadline)
                if !busy.isEmpty { return await storeAround(busy, registrations, until: deadline) }
            case .locked where registrations.count > 1 && .now < deadline:
                return await divide(registrations, until: deadline, because: failure)
            case .away where .now < deadline:
                try? await Task.sleep(for: Self.retryPause)
            case .conflict, .locked, .away, .other:
                logger.failure("\(registrations.count) registrations were refused", of: failure)
                return registrations.map { _ in .unavailable }
            }
        }
    }

    /// Makes one attempt; nil if there is no connection or no result by the deadline.
    private func attempt(
        _ registrations: [PlacedRegistration],
        until deadline: ContinuousClock.Instant
    ) async -> Result<RegistrationReport, any Error>? {
        // While the server has not answered the last statement, it gets no second one.
        while !store.isConnected || stuck.withLock({ $0.map { !$0.isOver } ?? false }) {
            guard .now < deadline else { return nil }
            try? await Task.sleep(for: Self.retryPause)
        }
        let attempt = Attempt<RegistrationReport>()
        let rest = max(deadline - .now, Self.retryPause)
        let result = await attempt.run(within: rest) { [store] in try await store.register(registrations) }
        if result == nil { stuck.withLock { $0 = attempt } }
        return result
    }

    /// Finds the registrations that the database rejects, or whose rows are locked, by bisection, and stores the
    /// others.
    private func divide(
        _ registrations: [PlacedRegistration],
        until deadline: ContinuousClock.Instant,
        because error: any Error
    ) async -> [RegistrationDecision] {
        guard registrations.count > 1 else {
            logger.failure("The database rejected a registration", of: error)
            return [.refused]
        }
        let middle = registrations.count / 2
        let first = await store(Array(registrations[..<middle]), until: deadline)
        let second = await store(Array(registrations[middle...]), until: deadline)
        return first + second
    }
}

/// The result of a registration.
enum RegistrationDecision: Sendable, Hashable {
    /// It is committed.
    case stored
    /// The database rejects one of its values; retrying does not help.
    case refused
    /// Another transaction holds the device's row.
    case busy
    /// The database is unreachable or too busy.
    case unavailable
}
