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
    /// A statement that the database has not answered yet, though its time is over.
    private let stuck = Mutex<Attempt<RegistrationReport>?>(nil)
    private let looksUntil = Mutex<ContinuousClock.Instant?>(nil)

    /// Attempts that meet somebody else's change of the same subscriptions; each of them is over in milliseconds.
    private static let mostConflicts = 8
    /// Further attempts where something is locked that is no row of a device, of 100 ms each: others wait behind them.
    private static let mostLocks = 2
    /// After a row was held by another transaction, rows are looked at for this time before they are changed: the look waits for nobody,
    /// and an attempt holds up all others for 100 ms.
    private static let lookTime = Duration.seconds(10)
    /// A device whose row is held is tried again behind others, for 2 s as all waits of the engine.
    private static let busyPause = Duration.milliseconds(250)
    private static let mostBusy = 8
    /// Between two looks at a database that is away.
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

    /// Registrations that wait for their transaction.
    var waiting: Int { group.withLock { $0?.waiting ?? 0 } }

    /// Waits until the registration is committed, or cannot be.
    func submit(_ registration: PlacedRegistration) async -> RegistrationDecision {
        await withCheckedContinuation { continuation in
            submit(registration) { continuation.resume(returning: $0) }
        }
    }

    /// Tells when the registration is committed, or cannot be; from whatever thread.
    func submit(_ registration: PlacedRegistration, answer: @escaping @Sendable (RegistrationDecision) -> Void) {
        guard let committer = group.withLock({ $0 }) else { return answer(.unavailable) }
        if registration.dropped > 0 { counters.add { $0.cut += 1 } }
        submit(registration, to: committer, triesLeft: Self.mostBusy, answer: answer)
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
                    self.logger.warning("A registration is refused: another transaction holds its device's row")
                }
                return answer(decision ?? .unavailable)
            }
            Task {
                try? await Task.sleep(for: Self.busyPause)
                self.submit(registration, to: committer, triesLeft: triesLeft - 1, answer: answer)
            }
        }
    }

    /// Stores all whose rows no other transaction holds, after one did.
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

    /// The places of those whose rows another transaction holds; none if the server does not say in time.
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
            case .conflict where conflicts < Self.mostConflicts:
                conflicts += 1
                try? await Task.sleep(for: .milliseconds(Int.random(in: 1...5 * conflicts)))
            case .value:
                return await divide(registrations, until: deadline, because: failure)
            case .locked where conflicts < Self.mostLocks:
                conflicts += 1
                let busy = await busy(registrations, until: deadline)
                if !busy.isEmpty { return await storeAround(busy, registrations, until: deadline) }
            case .locked where registrations.count > 1 && .now < deadline:
                return await divide(registrations, until: deadline, because: failure)
            case .away where .now < deadline:
                try? await Task.sleep(for: Self.retryPause)
            case .conflict, .locked, .away, .other:
                logger.failure("\(registrations.count) registrations are refused", of: failure)
                return registrations.map { _ in .unavailable }
            }
        }
    }

    /// One attempt; nil if there is no connection, or no answer, until the deadline.
    private func attempt(
        _ registrations: [PlacedRegistration],
        until deadline: ContinuousClock.Instant
    ) async -> Result<RegistrationReport, any Error>? {
        // A server that does not answer gets no second statement behind the first.
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

    /// The database takes all but what it refuses, or what is locked: the halves are tried, down to the registration at fault.
    private func divide(
        _ registrations: [PlacedRegistration],
        until deadline: ContinuousClock.Instant,
        because error: any Error
    ) async -> [RegistrationDecision] {
        guard registrations.count > 1 else {
            logger.failure("The database refuses a registration", of: error)
            return [.refused]
        }
        let middle = registrations.count / 2
        let first = await store(Array(registrations[..<middle]), until: deadline)
        let second = await store(Array(registrations[middle...]), until: deadline)
        return first + second
    }
}

/// What became of a registration.
enum RegistrationDecision: Sendable, Hashable {
    /// It is committed.
    case stored
    /// The database refuses a value of it, whatever is done.
    case refused
    /// Another transaction holds the device's row.
    case busy
    /// The database is away, or too busy.
    case unavailable
}
