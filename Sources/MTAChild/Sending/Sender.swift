import Gateways
import Logging
import NIOCore
import PushCore
import Store
import Synchronization

/// Carries out what the ``SendDesk`` decides: marks, journal, gateway, store.
///
/// The desk is behind a lock, because answers come on the gateway's event loop and everything else in tasks. An answer is
/// journaled on the event loop before the loop goes on, hence before its stream slot is used again.
final class Sender: GatewayDelegate {
    private struct Releases {
        var open = 0
        var hasFailed = false
    }

    let desk: Mutex<SendDesk>
    let latencies = Mutex(LatencyWindow())
    /// There is room for another part, or something to claim may be there.
    let claimSignal = Signal()
    /// The desk is empty, or may be: who waits for that looks.
    let idleSignal = Signal()
    private let store: Store
    private let journal: ChildJournal
    private let clock: DatabaseClock
    private let eventLoop: any EventLoop
    private let logger: Logger
    private let storeSignal = Signal()
    private let releases = Mutex(Releases())
    /// Grows with each pause, so that the end of an earlier one does not end a later one.
    private let pauses = Mutex(0)
    private let batchDelay: Duration
    private let isStopped = Mutex(false)
    private let isFlushScheduled = Mutex(false)
    private let trouble = Mutex(GatewayTrouble())
    private let databaseTrouble = Mutex("")
    private let gatewayBox = Mutex<(any Gateway)?>(nil)
    /// Called once, when the journal cannot be written any more.
    private let onJournalFailure: @Sendable (String) -> Void
    private let marks: AsyncStream<[PartMark]>
    private let marksContinuation: AsyncStream<[PartMark]>.Continuation

    init(
        desk: SendDesk,
        store: Store,
        journal: ChildJournal,
        clock: DatabaseClock,
        eventLoop: any EventLoop,
        settings: ChildSettings,
        logger: Logger,
        onJournalFailure: @escaping @Sendable (String) -> Void
    ) {
        self.desk = Mutex(desk)
        self.store = store
        self.journal = journal
        self.clock = clock
        self.eventLoop = eventLoop
        self.logger = logger
        self.onJournalFailure = onJournalFailure
        batchDelay = .milliseconds(settings.outcomeBatchDelayMs)
        (marks, marksContinuation) = AsyncStream.makeStream(of: [PartMark].self)
    }

    var gateway: (any Gateway)? {
        get { gatewayBox.withLock { $0 } }
        set { gatewayBox.withLock { $0 = newValue } }
    }

    /// The present trouble with the gateway or, if there is none, with the database; empty when all is well.
    var lastTrouble: String {
        gatewayTrouble?.message ?? databaseTrouble.withLock { $0 }
    }

    /// What keeps the gateway from taking messages, if anything does.
    var gatewayTrouble: GatewayEvent? { trouble.withLock { $0.application ?? $0.connection } }

    /// Since when the gateway takes nothing, if so.
    var troubleSince: ContinuousClock.Instant? { trouble.withLock { $0.since } }

    /// Whether the gateway takes messages, as far as is known.
    var isGatewayWell: Bool { gatewayTrouble == nil }

    /// Tells the desk what happened and does what it says.
    func perform(_ event: SendDesk.Event) {
        let now = clock.nowMilliseconds
        let actions = desk.withLock { $0.handle(event, now: now) }
        var maySubmit = true
        var unsent: [GatewayRequestBatch] = []
        for action in actions {
            switch action {
            case .journal(let bytes): maySubmit = write(bytes) && maySubmit
            // Without its intent in the journal a message must not leave: after a crash nobody would know of it.
            case .submit(let batch): if maySubmit { gateway?.submit(batch) } else { unsent.append(batch) }
            default: carryOut(action)
            }
        }
        if !unsent.isEmpty { takeBack(unsent) }
        if isIdle { idleSignal.fire() }
    }

    private func carryOut(_ action: SendDesk.Action) {
        switch action {
        case .mark(let marks): marksContinuation.yield(marks)
        case .journal, .submit: break
        case .resendLater(let batchID, let attempt): scheduleResend(batchID, attempt)
        case .store(let isFull): isFull ? storeSignal.fire() : scheduleFlush()
        case .cancelQueued: gateway?.cancelQueued()
        case .release(let part, let recovery): release(part, recovery)
        case .cutJournal: cutJournal()
        case .claimMore: claimSignal.fire()
        }
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        do {
            try journal.append(bytes)
            if journal.isLong { eventLoop.execute { self.perform(.journalLong) } }
            return true
        } catch {
            onJournalFailure(String(describing: error))
            return false
        }
    }

    private func cutJournal() {
        do {
            try journal.cut()
            perform(.journalCut)
        } catch {
            onJournalFailure(String(describing: error))
        }
    }

    /// Settles messages that could not be journaled and so were not sent: the part's next owner sends them.
    private func takeBack(_ batches: [GatewayRequestBatch]) {
        perform(.hurry)
        for batch in batches {
            let outcomes = (0..<Int32(batch.count)).map { Outcome(index: $0, outcomeClass: .unprocessed) }
            perform(.settled(batchID: batch.id, outcomes: outcomes))
        }
    }

    private func scheduleFlush() {
        let isFirst = isFlushScheduled.withLock { scheduled in
            defer { scheduled = true }
            return !scheduled
        }
        guard isFirst else { return }
        eventLoop.scheduleTask(in: TimeAmount(batchDelay)) {
            self.isFlushScheduled.withLock { $0 = false }
            self.storeSignal.fire()
        }
    }

    private func scheduleResend(_ batchID: Int64, _ attempt: Int) {
        // 20 ms, doubling to 640 ms at the sixth: a gateway that sheds load gets a little time, the message not much delay.
        let ceiling = Int64(20) << Int64(min(attempt, 6) - 1)
        eventLoop.scheduleTask(in: .milliseconds(Int64.random(in: ceiling / 2...ceiling))) {
            self.perform(.resendDue(batchID: batchID))
        }
    }

    private func release(_ part: PartToken, _ recovery: PartRecovery) {
        releases.withLock { $0.open += 1 }
        Task {
            do {
                _ = try await store.releasePart(part, recovery: recovery)
            } catch {
                // The lease runs out by itself; the next owner learns the rest from mark, outcomes and journal.
                logger.warning("part \(part.part) could not be given back: \(error)")
                releases.withLock { $0.hasFailed = true }
            }
            releases.withLock { $0.open -= 1 }
            idleSignal.fire()
        }
    }

    /// Nothing is held, on its way, or being given back.
    var isIdle: Bool { desk.withLock { $0.isEmpty } && releases.withLock { $0.open == 0 } }

    /// Everything that the journal tells is in the database.
    var needsNoJournal: Bool { isIdle && !releases.withLock { $0.hasFailed } }

    // MARK: What the gateway tells

    func settled(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        latencies.withLock { window in
            for latency in latencyMicroseconds where latency > 0 { window.record(latency) }
        }
        if outcomes.contains(where: { $0.outcomeClass == .accepted }) { trouble.withLock { $0.application = nil } }
        perform(.settled(batchID: batch.id, outcomes: outcomes))
    }

    func gatewayEvent(_ event: GatewayEvent) {
        switch event.kind {
        case .connected, .recovered, .tokenRenewed:
            logger.info("\(event.message)")
            trouble.withLock { $0.connection = nil }
        case .goAway, .connectionLost:
            logger.notice("\(event.message)")
        case .unreachable, .untrusted, .tokenUnavailable:
            logger.warning("\(event.message)")
            trouble.withLock { $0.connection = event }
        case .applicationStopped, .applicationThrottled:
            logger.error("\(event.message)")
            trouble.withLock { $0.application = event }
            pause(milliseconds: event.retryInMilliseconds ?? 60_000)
        }
    }

    /// Sends nothing new for a while: the gateway would refuse it.
    private func pause(milliseconds: Int64) {
        let number = pauses.withLock { number in
            number += 1
            return number
        }
        perform(.paused(true))
        eventLoop.scheduleTask(in: .milliseconds(milliseconds)) {
            if self.pauses.withLock({ $0 == number }) { self.perform(.paused(false)) }
        }
    }

    // MARK: Tasks

    func stop() {
        isStopped.withLock { $0 = true }
        storeSignal.fire()
        marksContinuation.finish()
    }

    /// Commits marks, one call after the other, until ``stop()``.
    func markLoop() async {
        var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
        for await marks in marks {
            do {
                perform(.marked(marks, held: try await store.mark(marks)))
                backOff.reset()
            } catch {
                logger.warning("the dispatch marks of \(marks.count) parts could not be committed: \(error)")
                try? await Task.sleep(for: backOff.next())
                perform(.markFailed)
            }
        }
    }

    /// Stores outcomes, one transaction after the other, until ``stop()`` and nothing is left.
    func storeLoop() async {
        while true {
            await storeSignal.wait()
            while let (batch, windowRows) = desk.withLock({ $0.takeOutcomes() }) {
                let report = await storeUntilDone(batch)
                perform(.stored(report, holdings: batch.holdings, windowRows: windowRows))
            }
            if isStopped.withLock({ $0 }) { return }
        }
    }

    /// Repeats a batch until the database has it: outcomes are facts, and the journal keeps them meanwhile.
    private func storeUntilDone(_ batch: OutcomeBatch) async -> StoreReport {
        var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(10))
        while true {
            do {
                let report = try await store.storeOutcomes(batch)
                databaseTrouble.withLock { $0 = "" }
                return report
            } catch {
                databaseTrouble.withLock { $0 = "outcomes cannot be stored: \(error)" }
                logger.warning("\(batch.count) outcomes could not be stored, trying again: \(error)")
                try? await Task.sleep(for: backOff.next())
            }
        }
    }
}
