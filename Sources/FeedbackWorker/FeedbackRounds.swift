import Logging
import ProcessEvents
import PushCore
import Store

/// Runs pieces of the worker's duties.
struct FeedbackRounds: Sendable {
    let store: Store
    /// A second connection: a backlog of token events can keep two processors of the database busy.
    let second: Store
    let worker: String
    let settings: Settings

    /// The maximum number of events per transaction: a tenth of a second, so that its locks are short.
    static let events = 2_000
    /// The maximum number of messages or hits counted per transaction: also a tenth of a second.
    static let counted = 10_000
    /// The maximum number of rows deleted per transaction.
    static let deleted = 2_000
    /// The maximum number of forgotten subscriptions per pass over a day's logs; a pass compares each message with all
    /// of them.
    static let forgotten = 100
    /// The maximum number of blocks of persons folded per transaction: a tenth of a second.
    static let folded = 500

    /// Runs one piece of a duty, or two in parallel; nil if another worker acts.
    func run(_ duty: FeedbackDuty, inTwos: Bool) async throws -> FeedbackRound? {
        let kept = settings.feedback.retention
        switch duty {
        case .tokenEvents:
            return try await applyTokenEvents(inTwos: inTwos)
        case .outcomes:
            let count = try await store.countOutcomes(worker: worker, messages: Self.counted)
            return count.map { FeedbackRound(count: $0, isMore: $0 > 0) }
        case .lateOutcomes:
            let count = try await store.countLateOutcomes(worker: worker, limit: Self.deleted)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.deleted) }
        case .hits:
            let count = try await store.countHits(worker: worker, limit: Self.counted)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.counted) }
        case .alarms:
            // Does nothing if another process has just looked. It does not count as work done.
            try await store.noteAlarms()
            return .idle
        case .events:
            let count = try await store.keepEvents(worker: worker)
            return count.map { FeedbackRound(count: $0, isMore: false) }
        case .partitions:
            return try await dropPartitions()
        case .disabledSubscriptions:
            guard kept.disabledSubscriptionDays > 0 else { return .idle }
            let days = kept.disabledSubscriptionDays
            let count = try await store.purgeSubscriptions(worker: worker, limit: Self.deleted, days: days)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.deleted) }
        case .oldTokenEvents:
            guard kept.tokenEventDays > 0 else { return .idle }
            let days = kept.tokenEventDays
            let count = try await store.purgeTokenEvents(worker: worker, limit: Self.deleted, days: days)
            // Some of the oldest rows may have to stay.
            return count.map { FeedbackRound(count: $0, isMore: $0 > Self.deleted / 2) }
        case .oldTrackingSources:
            let count = try await store.purgeTrackingSources(worker: worker, limit: Self.deleted)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.deleted) }
        case .oldConversions:
            let count = try await store.purgeConversions(worker: worker, limit: Self.deleted)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.deleted) }
        case .forgottenLogs:
            let count = try await store.cleanForgottenLogs(worker: worker, limit: Self.forgotten)
            return count.map { FeedbackRound(count: $0, isMore: $0 > 0) }
        case .forgottenBehaviour:
            let count = try await store.clearForgotten(worker: worker, limit: Self.forgotten)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.forgotten) }
        case .oldDeliveryRows:
            guard kept.broadLogDays > 0 else { return .idle }
            let count = try await store.purgeDeliveryRows(worker: worker, limit: Self.deleted, days: kept.broadLogDays)
            return count.map { FeedbackRound(count: $0, isMore: $0 > 0) }
        case .oldChildren:
            guard kept.broadLogDays > 0 else { return .idle }
            let count = try await store.purgeChildren(worker: worker, limit: Self.deleted, days: kept.broadLogDays)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.deleted) }
        case .oldForgotten:
            let count = try await store.purgeForgotten(worker: worker, limit: Self.deleted)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.deleted) }
        case .oldImports:
            let count = try await store.purgeImports(worker: worker, limit: Self.deleted)
            return count.map { FeedbackRound(count: $0, isMore: $0 > 0) }
        case .capHistory:
            let count = try await store.keepCaps(worker: worker, blocks: Self.folded)
            return count.map { FeedbackRound(count: $0, isMore: $0 > 0) }
        case .controlGroups:
            let count = try await store.countControlGroup(worker: worker)
            return count.map { FeedbackRound(count: $0, isMore: $0 > 0) }
        case .oldBehaviour:
            let count = try await store.purgeBehaviour(worker: worker, limit: Self.deleted)
            return count.map { FeedbackRound(count: $0, isMore: $0 >= Self.deleted) }
        }
    }

    /// Two statements can run in parallel: each skips events that the other is deciding.
    private func applyTokenEvents(inTwos: Bool) async throws -> FeedbackRound? {
        let rules = settings.mta.quarantine
        async let other = inTwos ? second.applyTokenEvents(worker: worker, limit: Self.events, rules: rules) : 0
        let count = try await store.applyTokenEvents(worker: worker, limit: Self.events, rules: rules)
        guard let count, let more = try await other else { return nil }
        return FeedbackRound(count: count + more, isMore: max(count, more) >= Self.events)
    }

    private func dropPartitions() async throws -> FeedbackRound? {
        var dropped: Int64 = 0
        for table in PartitionedTable.allCases {
            let days = days(of: table)
            guard days > 0 else { continue }
            guard let name = try await store.dropOldPartition(worker: worker, of: table, days: days) else { return nil }
            dropped += name.isEmpty ? 0 : 1
        }
        return FeedbackRound(count: dropped, isMore: dropped > 0)
    }

    private func days(of table: PartitionedTable) -> Int {
        let kept = settings.feedback.retention
        return switch table {
        // A broad log can only be read together with its part targets.
        case .broadLog, .partTarget: kept.broadLogDays
        case .trackingLog: kept.trackingLogDays
        case .exclusionLog: kept.exclusionLogDays
        }
    }
}

extension FeedbackWorker {
    /// How long the answer to whether messages are being sent stays valid.
    private static let lookInterval = Duration.milliseconds(500)

    /// Runs the duties while this worker acts, until cancelled.
    func keepWorking() async {
        guard let store = await open("feedback") else { return }
        guard let second = await open("feedback-second") else { return await store.close() }
        let rounds = FeedbackRounds(store: store, second: second, worker: id, settings: setup.settings)
        let clock = ContinuousClock()
        var plan = FeedbackPlan(
            sharePercent: setup.settings.feedback.shareWhileSendingPercent,
            maxPause: maxPause,
            at: clock.now
        )
        var bursts = FeedbackBursts()
        var isSending = false
        var lastLook = clock.now - Self.lookInterval
        while !Task.isCancelled {
            plan.setActing(progress.isActing)
            switch plan.next(at: clock.now) {
            case .rest(let time):
                try? await clock.sleep(until: min(time, clock.now + FeedbackPlan.standbyInterval))
            case .run(let duty):
                let start = clock.now
                do {
                    // While messages are sent, the other processor is left to the children.
                    let inTwos = plan.hasTokenBacklog && !isSending
                    guard let round = try await rounds.run(duty, inTwos: inTwos) else {
                        // The next heartbeat says which worker acts.
                        _ = progress.setActing(false)
                        continue
                    }
                    let end = clock.now
                    if round.count > 0, end - lastLook >= Self.lookInterval {
                        isSending = try await store.isSending()
                        lastLook = end
                    }
                    plan.finished(duty, round, took: end - start, isSending: isSending, at: clock.now)
                    progress.add(duty, round.count)
                    if let burst = bursts.add(duty, round, from: start, to: end) {
                        setup.logger.log(level: burst.isBacklog ? .info : .debug, "\(burst.words)")
                    }
                } catch {
                    if Task.isCancelled { break }
                    let pause = plan.failed(duty, at: clock.now)
                    setup.logger.failure("\(duty.rawValue) failed; next attempt in \(pause.pauseText)", of: error)
                }
            }
        }
        await second.close()
        await store.close()
    }
}

/// Sums up consecutive pieces of work, so that the log has one line for all of them.
struct FeedbackBursts: Sendable {
    /// A run of consecutive pieces of a duty.
    struct Line: Sendable, Equatable {
        let words: String
        /// Whether it was a backlog worth a line in the log: usual input takes less time.
        let isBacklog: Bool
    }

    /// A worker looks at least every five seconds; work that takes twice as long was a backlog.
    private static let backlog = Duration.seconds(10)

    private struct Burst {
        var start: ContinuousClock.Instant
        var count: Int64 = 0
    }

    private var bursts: [FeedbackDuty: Burst] = [:]

    /// Adds a piece of work. Returns the line for the log if it was the last of its burst and something was done.
    mutating func add(
        _ duty: FeedbackDuty,
        _ round: FeedbackRound,
        from start: ContinuousClock.Instant,
        to now: ContinuousClock.Instant
    ) -> Line? {
        var burst = bursts[duty] ?? Burst(start: start)
        burst.count &+= round.count
        guard !round.isMore else {
            bursts[duty] = burst
            return nil
        }
        bursts[duty] = nil
        guard burst.count > 0 else { return nil }
        let took = now - burst.start
        let time = took.components
        return Line(
            words: "\(duty.words): \(burst.count), in \(time.seconds) s \(time.attoseconds / 1_000_000_000_000_000) ms",
            isBacklog: took >= Self.backlog
        )
    }
}
