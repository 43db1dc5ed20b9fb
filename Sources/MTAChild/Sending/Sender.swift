import Gateways
import Logging
import NIOCore
import PostgresClient
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Carries out what the ``DispatchState`` decides: marks, journal, gateway, store.
///
/// The dispatch state is behind a lock, because answers come on the gateway's event loop and everything else in tasks. An intent is
/// journaled on the event loop before its messages get streams, an answer before the loop goes on, hence before its stream
/// slot is used again.
final class Sender: GatewayDelegate {
    private let dispatch: Mutex<DispatchState>
    let lease = LeaseClock()
    let circuit: CircuitReport
    let troubleReport: TroubleReport
    let holder: DeliveryHolder
    let measures = ChildMeasures()
    let signals = SenderSignals()
    let difficulties = SenderDifficulties()
    let store: Store
    let clock: DatabaseClock
    let eventLoop: any EventLoop
    let logger: Logger
    /// Grows with each part that the database has back.
    let released = Atomic<UInt64>(0)
    let isStopped = Mutex(false)
    /// From which the dispatch state's moments count.
    private let start = ContinuousClock.now
    let control: ChildControl
    private let lockedEnds: LockedEnds
    private let journal: ChildJournal
    private let flush: FlushSchedule
    private let gatewayBox = Mutex<(any Gateway)?>(nil)
    let marks: MarkLane

    init(
        dispatch: DispatchState,
        store: Store,
        messageMarks: Store,
        journal: ChildJournal,
        circuit: CircuitReport,
        troubleReport: TroubleReport,
        control: ChildControl,
        clock: DatabaseClock,
        eventLoop: any EventLoop,
        settings: ChildSettings,
        logger: Logger
    ) {
        self.dispatch = Mutex(dispatch)
        self.store = store
        lockedEnds = LockedEnds(store: store)
        marks = MarkLane(usual: store, ofMessages: messageMarks, logger: logger)
        self.journal = journal
        self.circuit = circuit
        self.troubleReport = troubleReport
        holder = DeliveryHolder(store: store, logger: logger)
        self.control = control
        self.clock = clock
        self.eventLoop = eventLoop
        self.logger = logger
        flush = FlushSchedule(delay: .milliseconds(settings.outcomeBatchDelayMs))
        control.wake(signals.probe)
    }

    var gateway: (any Gateway)? {
        get { gatewayBox.withLock { $0 } }
        set {
            gatewayBox.withLock { $0 = newValue }
            if let newValue { perform(.gatewayOpened(takesInSilence: newValue.takesInSilence)) }
        }
    }

    /// How long the journal is, with what cuts have taken out.
    var journalLength: Int64 { journal.writtenLength }

    /// The present trouble with the gateway or, if there is none, with the database; empty when all is well.
    var lastTrouble: String {
        gatewayTrouble?.standing ?? difficulties.database.withLock { $0 }
    }

    /// What to show of the child: the present trouble or, if there is none, what the gateway has left behind.
    var lastError: String {
        let present = lastTrouble
        return present.isEmpty ? gatewayNotice?.standing ?? "" : present
    }

    /// Messages whose outcome may be wrong, as the gateway has told in the last minutes.
    var gatewayNotice: GatewayEvent? { difficulties.gateway.withLock { $0.notice() } }

    /// What keeps the gateway from taking messages, if anything does.
    var gatewayTrouble: GatewayEvent? { difficulties.gateway.withLock { $0.application ?? $0.connection } }

    /// Whether the gateway takes messages, as far as is known.
    var isGatewayWell: Bool { gatewayTrouble == nil }

    /// Nothing is held, on its way, or being given back: everything that the journal tells is in the database.
    var isIdle: Bool { dispatch.withLock(\.isIdle) }

    /// The dispatch state's figures now.
    var snapshot: DispatchSnapshot { dispatch.withLock(\.snapshot) }

    /// The parts and deliveries that it has to do with now.
    var work: DispatchWork { dispatch.withLock(\.work) }

    /// Whether it answers for a part of the delivery.
    func holds(_ delivery: Int64) -> Bool { dispatch.withLock { $0.holds(delivery) } }

    /// What the prober asks of it.
    var probe: ProbeView {
        let moment = moment
        return dispatch.withLock { $0.probe(at: moment) }
    }

    /// Now, on the clock of the dispatch state.
    var moment: Duration { ContinuousClock.now - start }

    /// What keeps messages from leaving faster, and the part that most of them are of.
    func load(queuedInGateway queued: Int) -> (limit: SendingLimit, part: ClaimedPart?) {
        dispatch.withLock { ($0.limit(queuedInGateway: queued), $0.busiestPart) }
    }

    /// Tells the dispatch state what happened and does what it says.
    func perform(_ events: DispatchState.Event...) { perform(events) }

    /// The same of what has happened at once.
    func perform(_ events: [DispatchState.Event]) {
        let now = clock.nowMilliseconds
        let moment = moment
        let (actions, isProbeNews) = dispatch.withLock { dispatch in
            let wasProber = dispatch.admission.isProbingGateway
            dispatch.advance(to: moment)
            return (dispatch.handle(events, now: now), wasProber || dispatch.admission.isProbingGateway)
        }
        carryOut(actions)
        if isProbeNews { signals.probe.fire() }
        if isIdle { signals.idle.fire() }
    }

    /// The journal's records first, in one write: what happens with an answer happens after it is there.
    private func carryOut(_ actions: [DispatchState.Action]) {
        var records: [UInt8] = []
        for case .journal(let bytes) in actions {
            if records.isEmpty { records = bytes } else { records += bytes }
        }
        if !records.isEmpty { write(records) }
        for action in actions { carryOut(action) }
    }

    /// The slices of rates that messages wait for now.
    func slicesToAsk() -> [(limit: Int64, messages: Int32)] {
        let moment = moment
        return dispatch.withLock { $0.pace.slicesToAsk(at: moment) }
    }

    private func carryOut(_ action: DispatchState.Action) {
        switch action {
        case .mark(let asked): marks.asked.continuation.yield(asked)
        case .submit(let batch): gateway?.submit(batch)
        case .resendLater(let batchID, let attempt): scheduleResend(batchID, attempt)
        case .store(let isFull): isFull ? signals.store.fire() : scheduleFlush()
        case .cancelQueued: gateway?.cancelQueued()
        case .release(let part, let recovery): release(part, recovery)
        case .putAside(let part, let recovery, let reason): release(part, recovery, problem: reason, alone: true)
        case .postpone(let part, let reason): release(part, PartRecovery(), problem: reason)
        case .journal: break
        case .cutJournal(let length, let claims): cutJournal(length, claims)
        case .tellLost(let count):
            logger.event(
                .leaseLost,
                "\(count) parts were taken over by another owner; nothing more is decided about them",
                ["parts": "\(count)"]
            )
        case .claimMore: signals.claim.fire()
        case .lookAgain(let pause):
            eventLoop.scheduleTask(in: TimeAmount(pause)) { self.perform(.lookAgain) }
        case .askForSlices: signals.rates.fire()
        case .cutRate(let limit, let reason): cutRate(limit, reason)
        case .enterTrouble(let reason, let notBefore): enterTrouble(reason, notBefore)
        case .troubleOver:
            difficulties.gateway.withLock { $0.application = nil }
            troubleReport.end()
            gateway?.giveUp(olderThan: DispatchState.probeTimeout)
            signals.claim.fire()
        case .openCircuit(let reason, let holdsTokenEffects): openCircuit(reason, holdsTokenEffects)
        case .closeCircuit:
            difficulties.gateway.withLock { $0.application = nil }
            circuit.close()
            signals.claim.fire()
        case .credentialRefused(let reason):
            logger.warning(
                "the gateway answers \(reason) to some messages: a credential stored with it is wrong. They wait apart, and all others go on"
            )
        case .credentialWorks(let reason): troubleReport.endCredentialWait(reason)
        case .holdDelivery(let delivery, let reason): holder.hold(delivery, reason: reason)
        }
    }

    // MARK: The journal

    /// - Returns: whether the journal has it.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        do {
            try journal.append(bytes)
            if let length = journal.lengthToCut() { eventLoop.execute { self.perform(.journalLong(length)) } }
            return true
        } catch {
            journalFailed(error)
            return false
        }
    }

    /// Beside what is sent meanwhile: the bytes are many.
    private func cutJournal(_ length: Int64, _ claims: Set<PartToken>) {
        Task {
            do {
                try journal.cut(upTo: length, keeping: claims)
            } catch {
                logger.warning("\(error). It is tried again when the journal has grown further.")
            }
        }
    }

    /// Without the journal nothing may leave: after a crash nobody would know of it.
    private func journalFailed(_ error: any Error) {
        if control.reason != .journal { logger.critical("\(error)") }
        control.fastShutdown(.journal)
        // This may be the middle of a call from the gateway.
        eventLoop.execute { self.perform(.fastShutdown) }
        signals.claim.fire()
    }

    // MARK: Timers

    private func scheduleFlush() {
        guard flush.begin() else { return }
        eventLoop.scheduleTask(in: TimeAmount(flush.delay)) {
            self.flush.end()
            self.signals.store.fire()
        }
    }

    private func scheduleResend(_ batchID: Int64, _ attempt: Int) {
        // 20 ms, doubling to 640 ms at the sixth: a gateway that sheds load gets a little time, the message not much delay.
        let ceiling = Int64(20) << Int64(min(attempt, 6) - 1)
        eventLoop.scheduleTask(in: .milliseconds(Int64.random(in: ceiling / 2...ceiling))) {
            self.perform(.resendDue(batchID: batchID))
        }
    }

    func stop() {
        isStopped.withLock { $0 = true }
        signals.store.fire()
        marks.asked.continuation.finish()
    }
}

/// What the gateway tells and asks; all of it on the event loop.
extension Sender {
    func aboutToSend(_ departures: [GatewayDeparture]) -> Bool {
        let now = clock.nowMilliseconds
        let journal = dispatch.withLock { $0.aboutToSend(departures, now: now, isLeaseValid: { lease.isValid }) }
        guard let journal, write(journal) else { return false }
        CrashPoint.afterIntent.reached()
        return true
    }

    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        resolved([ResolvedBatch(batch: batch, outcomes: outcomes, latencies: latencyMicroseconds)])
    }

    func resolved(_ batches: [ResolvedBatch]) {
        measures.latencies.withLock { window in
            for batch in batches { for latency in batch.latencies where latency > 0 { window.record(latency) } }
        }
        measureWaits(batches)
        if difficulties.gateway.withLock({ $0.application != nil }),
            batches.contains(where: { $0.outcomes.contains { $0.outcomeClass == .accepted } })
        {
            difficulties.gateway.withLock { $0.application = nil }
        }
        perform(batches.map { .resolved(batchID: $0.batch.id, outcomes: $0.outcomes) })
        CrashPoint.afterAnswer.reached()
    }

    /// How long single messages have taken that got an answer. Those of deliveries have no time of their own.
    private func measureWaits(_ batches: [ResolvedBatch]) {
        guard batches.contains(where: { $0.batch.dueMilliseconds > 0 }) else { return }
        let now = clock.nowMilliseconds
        measures.waits.withLock { waits in
            for batch in batches where batch.batch.dueMilliseconds > 0 {
                let time = Duration.milliseconds(now - batch.batch.dueMilliseconds)
                for latency in batch.latencies where latency > 0 { waits.record(time) }
            }
        }
    }

    /// Told in the middle of the gateway's work: taken up after it.
    func capacityChanged(_ streams: Int) {
        eventLoop.execute { self.perform(.capacityChanged(streams)) }
    }

    func refused(_ texts: Set<RefusalText>) {
        let new = difficulties.refusals.withLock { known in
            if known.count >= SenderDifficulties.mostDeliveries { known.removeAll() }
            return texts.filter { text in
                known[text.deliveryID, default: []].count < SenderDifficulties.mostRefusals
                    && known[text.deliveryID, default: []].insert(text).inserted
            }
        }
        for text in new {
            logger.warning(
                "the gateway refuses messages of delivery \(text.deliveryID) for good (\(text.reason)): \(text.words)",
                metadata: ["delivery": "\(text.deliveryID)"]
            )
            Task {
                let refusal = DeliveryRefusal(reason: text.reason, words: text.words)
                do {
                    try await store.noteRefusal(refusal, delivery: text.deliveryID)
                } catch {
                    logger.failure("the words of a refusal could not be stored", of: error)
                }
            }
        }
    }

    func gatewayEvent(_ event: GatewayEvent) {
        switch event.kind {
        case .connected, .recovered, .tokenRenewed:
            if let end = difficulties.outage.withLock({ $0.reached(at: .now) }) {
                let seconds = end.time.components.seconds
                logger.notice("\(event.message), after \(seconds) s in which \(end.attempts) attempts failed")
            } else {
                logger.info("\(event.message)")
            }
            difficulties.gateway.withLock { $0.connection = nil }
            if event.kind != .tokenRenewed, gateway?.takesInSilence == true {
                eventLoop.execute { self.perform(.gatewayReached) }
            }
        case .goAway, .connectionLost:
            logger.notice("\(event.message)")
            if event.kind == .connectionLost, gateway?.takesInSilence == false { failed(event) }
        case .unproved:
            logger.warning("\(event.message)")
            difficulties.gateway.withLock { $0.note(event) }
        case .unreachable, .untrusted, .tokenUnavailable:
            let isNews = difficulties.outage.withLock { $0.failed(event.kind, at: .now) }
            logger.log(level: isNews ? .warning : .debug, "\(event.message)")
            difficulties.gateway.withLock { $0.connection = event }
            failed(event)
        case .applicationThrottled:
            logger.warning("\(event.message)")
            difficulties.gateway.withLock { $0.application = event }
        case .applicationStopped:
            logger.error("\(event.message)")
            difficulties.gateway.withLock { $0.application = event }
            perform(.applicationStopped)
        }
    }

    /// The way to the gateway has failed. What is told in the middle of a call from the gateway is taken up after it.
    private func failed(_ event: GatewayEvent) {
        let reason = event.reason.isEmpty ? event.kind.rawValue : event.reason
        eventLoop.execute { self.perform(.gatewayFailed(reason)) }
    }

    /// Says that the gateway takes nothing: one child of all hosts goes on trying, and the others wait for it.
    func enterTrouble(_ reason: String, _ notBefore: Duration?) {
        troubleReport.enter(reason: gatewayTrouble?.standing ?? reason, notBefore: notBefore)
        signals.claim.fire()
    }

    /// Says why every message would fail, and has the child leave.
    func openCircuit(_ reason: String, _ holdsTokenEffects: Bool) {
        control.fastShutdown(.circuitOpen)
        // The gateway says more about an answer in an event that follows it in the same turn of the loop.
        let message = eventLoop.submit { () -> String in
            let event = self.difficulties.gateway.withLock { $0.application }
            let stop = event?.kind == .applicationStopped ? event : nil
            return holdsTokenEffects ? reason : stop?.message ?? "the gateway refuses every message: \(reason)"
        }
        circuit.open(
            remedy: holdsTokenEffects ? HealthReporter.mixUpRemedy : HealthReporter.stopRemedy,
            holdsTokenEffects: holdsTokenEffects
        ) { try await message.get() }
        signals.claim.fire()
    }
}

/// What the database is told: marks, outcomes, parts that go back.
extension Sender {
    /// No gateway has asked for more than an hour, and who gets the part next asks again.
    private static let longestWait: Int64 = 3_600_000

    /// Gives a part back, until the database has it or the child leaves.
    ///
    /// - Parameters:
    ///   - problem: why its messages cannot be read or sent now, if so: then it waits.
    ///   - alone: whether its push tokens were refused, so that it is judged by itself next time.
    func release(_ part: PartToken, _ recovery: PartRecovery, problem: String? = nil, alone: Bool = false) {
        Task {
            // Nobody should claim it, and fail as this child did, before the circuit is known to be open, or the delivery held back.
            while circuit.isOpening || troubleReport.isUnderWay || holder.holdsParts {
                await circuit.resolved()
                await troubleReport.finished()
                await holder.resolved()
                await Task.yield()
            }
            var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(5))
            while true {
                do {
                    let notBefore = recovery.notBeforeMilliseconds
                    _ = try await store.releasePart(
                        part,
                        recovery: recovery,
                        problem: problem,
                        // Of the clock of now: one that was set meanwhile must not keep the part back for longer.
                        wait: notBefore == 0 ? 0 : min(notBefore - clock.nowMilliseconds, Self.longestWait),
                        alone: alone
                    )
                    if alone, let problem { try await holdIfRefused(part, problem) }
                    break
                } catch {
                    logger.failure("part \(part.part) could not be given back", of: error)
                    // The lease runs out by itself then; the next owner learns the rest from mark, outcomes and journal.
                    guard !isStopped.withLock({ $0 }) else { return }
                    try? await Task.sleep(for: backOff.next())
                }
            }
            released.add(1, ordering: .relaxed)
            perform(.released(part))
            signals.idle.fire()
        }
    }

    /// Holds the delivery of a part back if nothing of it gets through, as every message of it would be refused.
    private func holdIfRefused(_ part: PartToken, _ problem: String) async throws {
        guard let delivery = try await store.refusedDelivery(ofPart: part.part) else { return }
        holder.hold(
            delivery,
            reason:
                "Next to nothing of the delivery gets through: \(problem). Check the environment and the key of the application and "
                + "where the push tokens come from. Stop the delivery, or resume it to try again."
        )
    }

    /// Grows with everything that the database has taken.
    var storedSoFar: UInt64 {
        UInt64(dispatch.withLock(\.outbox.stored)) + released.load(ordering: .relaxed)
    }

    /// Says that the gateway finds a rate too high. It is said once: who meets the gateway's refusal again says it again.
    private func cutRate(_ limit: Int64, _ reason: String) {
        logger.event(
            .quotaReached,
            "the gateway says that the project sends too fast (\(reason)): its rate is halved, and grows again"
        )
        Task {
            do {
                try await store.cutRate(limit, reason: reason)
            } catch {
                logger.failure("the rate of the project could not be halved", of: error)
            }
        }
    }

    /// Commits marks, one call after the other, until ``stop()``.
    func markLoop() async {
        var backOff = BackOff(initial: .milliseconds(200), maximum: .seconds(5))
        for await asked in marks.asked.stream {
            do {
                let held = try await measures.time(\.mark) { try await marks.commit(asked, journal.writtenLength) }
                CrashPoint.afterMark.reached()
                perform(.marked(asked, held: held))
                backOff.reset()
            } catch {
                logger.failure("the dispatch marks of \(asked.count) parts could not be committed", of: error)
                try? await Task.sleep(for: backOff.next())
                perform(.markFailed)
            }
        }
    }

    /// Stores outcomes, one transaction after the other, until ``stop()`` and nothing is left, or the task is cancelled.
    func storeLoop() async {
        while !Task.isCancelled {
            await signals.store.wait()
            // What comes while a batch is stored gathers as it would have without: where latencies differ, outcomes are of many parts, and each
            // batch updates each of its parts.
            repeat {
                guard let (batch, windowRows) = dispatch.withLock({ $0.outbox.take(at: $0.moment) }) else { break }
                guard let report = await storeUntilDone(batch) else { return }
                perform(.stored(report, claims: batch.claims, windowRows: windowRows))
            } while dispatch.withLock { $0.storesAtOnce } || isStopped.withLock { $0 }
            if isStopped.withLock({ $0 }) { return }
        }
    }

    /// Repeats a batch until the database has it: outcomes are facts, and the journal keeps them meanwhile.
    /// - Returns: nil if the task was cancelled.
    private func storeUntilDone(_ batch: OutcomeBatch) async -> StoreReport? {
        var backOff = BackOff(initial: .milliseconds(100), maximum: .seconds(10))
        var batch = batch
        batch.journalLength = journal.writtenLength
        var locked: [ClosingPart] = []
        var looks = lockedEnds.areThere
        if !batch.closing.isEmpty { CrashPoint.beforePartEnd.reached() }
        while !Task.isCancelled {
            do {
                if looks { locked += try await lockedEnds.takeOut(of: &batch) }
                // Before the transaction nothing of it is committed.
                CrashPoint.beforeCommit.reached()
                let report = try await measures.time(\.store) { [batch] in try await store.storeOutcomes(batch) }
                CrashPoint.afterCommit.reached()
                difficulties.database.withLock { $0 = "" }
                if lockedEnds.add(locked) { Task { await endLocked() } }
                return report
            } catch let error as PostgresError where error.isLockTimeout && !looks && !batch.closing.isEmpty {
                looks = true
            } catch {
                difficulties.database.withLock { $0 = "outcomes cannot be stored: \(error)" }
                logger.failure("\(batch.count) outcomes could not be stored, trying again", of: error)
                try? await Task.sleep(for: backOff.next())
            }
        }
        return nil
    }

    /// Ends parts whose delivery was locked, as soon as it is free.
    private func endLocked() async {
        while !isStopped.withLock({ $0 }) {
            try? await Task.sleep(for: LockedEnds.pause)
            do {
                guard let (report, claims) = try await lockedEnds.next() else { return }
                perform(.ended(report, claims: claims))
            } catch {
                logger.failure("the ends of parts could not be stored, trying again", of: error)
            }
        }
    }
}

/// How marks get into the database: behind outcomes, and while single messages come over a connection of their own.
///
/// Marks come one after the other. As long as single messages are among them, none waits until outcomes of other parts are stored. A bulk
/// delivery's do: on a connection of their own they are fewer a transaction, which costs more than a tenth of all CPU.
final class MarkLane: Sendable {
    /// After the last single message marks keep their own connection for so long.
    private static let messagePause = Duration.seconds(1)

    /// What is to be marked.
    let asked = AsyncStream.makeStream(of: [PartMark].self)
    private let usual: Store
    private let ofMessages: Store
    /// A task waits for the connection of messages.
    private let isOpening = Atomic(false)
    /// Until when they are taken to come.
    private let messagesUntil = Mutex(ContinuousClock.now)
    private let logger: Logger

    init(usual: Store, ofMessages: Store, logger: Logger) {
        self.usual = usual
        self.ofMessages = ofMessages
        self.logger = logger
    }

    /// Single messages were claimed: their marks are next.
    func messagesClaimed() {
        messagesUntil.withLock { $0 = .now + Self.messagePause }
        // Beside: what is to be marked meanwhile goes the usual way.
        guard !ofMessages.isConnected, !isOpening.exchange(true, ordering: .relaxed) else { return }
        Task {
            try? await ofMessages.awaitConnection()
            isOpening.store(false, ordering: .relaxed)
        }
    }

    /// Commits marks, and returns the parts that are still held. They go behind the outcomes if their own connection is not there or
    /// cannot do it: the outcomes that are being stored may be of the same parts and lock them.
    ///
    /// - Parameter journalLength: how long the journal is, with what cuts have taken out.
    func commit(_ marks: [PartMark], _ journalLength: Int64) async throws -> Set<Int64> {
        if messagesUntil.withLock({ $0 }) > .now, ofMessages.isConnected {
            do {
                return try await ofMessages.mark(marks, journalLength: journalLength)
            } catch {
                logger.debug("\(marks.count) marks go behind the outcomes: \(error)")
            }
        }
        return try await usual.mark(marks, journalLength: journalLength)
    }
}

/// What is wrong with the way to the gateway.
struct GatewayTrouble: Sendable {
    /// No connection, or no access token; over when there is one.
    var connection: GatewayEvent?
    /// Every message of the application is refused; over when one is accepted.
    var application: GatewayEvent?
    /// Messages whose outcome may be wrong: over when it is told, so that it keeps nothing from being sent.
    private var last: (event: GatewayEvent, at: ContinuousClock.Instant)?
    /// Nothing takes such a notice back: it is shown for so long, as long as a child lives by default.
    static let noticeTime = Duration.seconds(600)

    /// Keeps a notice to be shown; the last one counts.
    mutating func note(_ event: GatewayEvent, at moment: ContinuousClock.Instant = .now) {
        last = (event, moment)
    }

    /// The notice that is to be shown; nil if there is none.
    func notice(at moment: ContinuousClock.Instant = .now) -> GatewayEvent? {
        last.flatMap { moment - $0.at < Self.noticeTime ? $0.event : nil }
    }
}

/// What wakes the tasks around a sender.
struct SenderSignals: Sendable {
    /// There is room for another part, or something to claim may be there.
    let claim = EventSignal()
    /// The dispatch state is empty, or may be: who waits for that looks.
    let idle = EventSignal()
    /// There are outcomes to store.
    let store = EventSignal()
    /// Messages wait for slices of rates.
    let rates = EventSignal()
    /// Something has happened while this child probes the gateway, or it is to go.
    let probe = EventSignal()
}

/// When outcomes that gather are stored though their batch is not full: one timer runs at a time.
struct FlushSchedule: ~Copyable, Sendable {
    /// So long outcomes gather.
    let delay: Duration
    private let isRunning = Mutex(false)

    init(delay: Duration) {
        self.delay = delay
    }

    /// Whether the timer has to be started, as none runs.
    borrowing func begin() -> Bool {
        isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
    }

    /// The timer has come to its end.
    borrowing func end() {
        isRunning.withLock { $0 = false }
    }
}

/// What is wrong around a sender, for the status of its child.
final class SenderDifficulties: Sendable {
    let outage = Mutex(GatewayOutage())
    let gateway = Mutex(GatewayTrouble())
    let database = Mutex("")
    /// What the gateway has said in words of messages that it refuses for good: each is told once.
    let refusals = Mutex([Int64: Set<RefusalText>]())
    /// Texts of a delivery: the database keeps no more of them.
    static let mostRefusals = 20
    /// Deliveries whose texts are remembered; what is forgotten is told again.
    static let mostDeliveries = 1_000
}
