import Gateways
import Logging
import NIOCore
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Carries out the decisions of the ``DispatchState``, and reports events to it.
///
/// A lock guards the dispatch state, because answers come on the gateway's event loop and everything else in tasks. An
/// intent is journaled on the event loop before its messages get streams. An answer is journaled before the loop
/// continues, hence before its stream slot is reused.
final class Sender: GatewayDelegate {
    private let dispatch: Mutex<DispatchState>
    let lease = LeaseClock()
    let database: SenderDatabase
    let measures: ChildMeasures
    let signals = SenderSignals()
    /// What is wrong with the path to the gateway.
    let trouble = Mutex(GatewayTrouble())
    let refusals = Mutex(RefusalTexts())
    let clock: DatabaseClock
    let eventLoop: any EventLoop
    let logger: Logger
    /// The zero point of the dispatch state's moments.
    private let start = ContinuousClock.now
    let control: ChildControl
    private let journal: ChildJournal
    private let flush: FlushSchedule
    private let gatewayBox = Mutex<(any Gateway)?>(nil)

    init(
        dispatch: DispatchState,
        database: SenderDatabase,
        measures: ChildMeasures,
        journal: ChildJournal,
        control: ChildControl,
        clock: DatabaseClock,
        eventLoop: any EventLoop,
        settings: ChildSettings,
        logger: Logger
    ) {
        self.dispatch = Mutex(dispatch)
        self.database = database
        self.measures = measures
        self.journal = journal
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
            if let newValue { perform(.gatewayOpened(newValue.limits, newValue.answers)) }
        }
    }

    /// The journal's length in bytes, including what cuts have removed.
    var journalLength: Int64 { journal.writtenLength }

    /// The present trouble with the gateway or, if there is none, with the database; empty when all is well.
    var lastTrouble: String {
        gatewayTrouble?.standing ?? database.trouble.withLock { $0 }
    }

    /// The child's error to show: the present trouble or, if there is none, a notice of the gateway.
    var lastError: String {
        let present = lastTrouble
        return present.isEmpty ? gatewayNotice?.standing ?? "" : present
    }

    /// The gateway's notice of the last minutes about messages whose outcome may be wrong.
    var gatewayNotice: GatewayEvent? { trouble.withLock { $0.notice() } }

    /// What keeps the gateway from taking messages; nil if nothing does.
    var gatewayTrouble: GatewayEvent? { trouble.withLock { $0.application ?? $0.connection } }

    /// Whether the gateway takes messages, as far as this child knows.
    var isGatewayWell: Bool { gatewayTrouble == nil }

    /// Whether nothing is held, on its way or being given back: the database has everything that the journal records.
    var isIdle: Bool { dispatch.withLock(\.isIdle) }

    /// The dispatch state's current figures.
    var snapshot: DispatchSnapshot { dispatch.withLock(\.snapshot) }

    /// The parts and deliveries that the dispatch state handles now.
    var work: DispatchWork { dispatch.withLock(\.work) }

    /// Whether this child holds the lease of a part of the delivery.
    func holds(_ delivery: Int64) -> Bool { dispatch.withLock { $0.holds(delivery) } }

    /// The dispatch state as the prober sees it.
    var probe: ProbeView {
        let moment = moment
        return dispatch.withLock { $0.probe(at: moment) }
    }

    /// Now, on the clock of the dispatch state.
    var moment: Duration { ContinuousClock.now - start }

    /// The journal records for messages that are about to leave; nil if these and all that wait in the gateway have to
    /// come back.
    func intents(of departures: [GatewayDeparture]) -> [UInt8]? {
        let now = clock.nowMilliseconds
        return dispatch.withLock { $0.aboutToSend(departures, now: now, isLeaseValid: { lease.isValid }) }
    }

    /// The outcomes to store in one transaction, and how many messages of the window they end.
    func takeOutcomes() -> (batch: OutcomeBatch, windowRows: Int)? {
        dispatch.withLock { $0.takeOutcomes() }
    }

    /// Whether the gathered outcomes are stored without waiting for more.
    var storesAtOnce: Bool { dispatch.withLock(\.storesAtOnce) }

    /// Grows with every batch and part that the database accepts.
    var storedSoFar: UInt64 { UInt64(dispatch.withLock(\.outbox.stored)) + database.releasedParts }

    /// What keeps messages from leaving faster, and the part with the most messages in the gateway.
    func load(queuedInGateway queued: Int) -> (limit: SendingLimit, part: ClaimedPart?) {
        dispatch.withLock { ($0.limit(queuedInGateway: queued), $0.busiestPart) }
    }

    /// Reports events to the dispatch state and carries out its actions.
    func perform(_ events: DispatchState.Event...) { perform(events) }

    /// The same for events that happened together.
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

    /// The journal records go first, in one write: nothing else is done with an answer before it is journaled.
    private func carryOut(_ actions: [DispatchState.Action]) {
        var records: [UInt8] = []
        for case .journal(let bytes) in actions {
            if records.isEmpty { records = bytes } else { records += bytes }
        }
        if !records.isEmpty { write(records) }
        for action in actions { carryOut(action) }
    }

    /// The rate slices that messages wait for now.
    func slicesToAsk() -> [(limit: Int64, messages: Int32)] {
        let moment = moment
        return dispatch.withLock { $0.slicesToAsk(at: moment) }
    }

    private func carryOut(_ action: DispatchState.Action) {
        switch action {
        case .mark(let asked): database.marks.asked.continuation.yield(asked)
        case .submit(let batch): gateway?.submit(batch)
        case .resendLater(let batchID, let attempt): scheduleResend(batchID, attempt)
        case .store(let isFull): isFull ? signals.store.fire() : scheduleFlush()
        case .cancelQueued: gateway?.cancelQueued()
        case .release(let part, let recovery): database.release(part, recovery, for: self)
        case .putAside(let part, let recovery, let reason):
            database.release(part, recovery, problem: reason, alone: true, for: self)
        case .postpone(let part, let reason): database.release(part, PartRecovery(), problem: reason, for: self)
        case .journal: break
        case .cutJournal(let length, let claims): cutJournal(length, claims)
        case .tellLost(let count):
            logger.event(
                .leaseLost,
                "another owner took over \(count) parts; this child decides nothing more about them",
                ["parts": "\(count)"]
            )
        case .claimMore: signals.claim.fire()
        case .lookAgain(let pause):
            eventLoop.scheduleTask(in: TimeAmount(pause)) { self.perform(.lookAgain) }
        case .askForSlices: signals.rates.fire()
        case .cutRate(let limit, let reason): database.cutRate(limit, reason)
        case .enterTrouble(let reason, let notBefore): enterTrouble(reason, notBefore)
        case .troubleOver:
            trouble.withLock { $0.application = nil }
            database.troubleReport.end()
            gateway?.giveUp(olderThan: DispatchState.probeTimeout)
            signals.claim.fire()
        case .openCircuit(let reason, let holdsTokenEffects): openCircuit(reason, holdsTokenEffects)
        case .closeCircuit:
            trouble.withLock { $0.application = nil }
            database.circuit.close()
            signals.claim.fire()
        case .credentialRefused(let reason):
            logger.warning(
                """
                the gateway answers \(reason) to some messages: a credential stored with it is wrong. \
                These messages wait apart, and all others are sent
                """
            )
        case .credentialWorks(let reason): database.troubleReport.endCredentialWait(reason)
        case .holdDelivery(let delivery, let reason): database.holder.hold(delivery, reason: reason)
        }
    }

    // MARK: The journal

    /// - Returns: whether the records were written.
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

    /// Runs in parallel with sending, because there are many bytes to copy.
    private func cutJournal(_ length: Int64, _ claims: Set<PartToken>) {
        Task {
            do {
                try journal.cut(upTo: length, keeping: claims)
            } catch {
                logger.warning("\(error). The cut is retried when the journal has grown further.")
            }
        }
    }

    /// Without the journal nothing may leave: after a crash no process would know of it.
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
        database.stop()
        signals.store.fire()
    }
}

/// The gateway's texts about messages that it refuses permanently; each is reported once.
struct RefusalTexts: Sendable {
    /// Texts per delivery; the database keeps no more.
    private static let maxTexts = 20
    /// Deliveries whose texts are remembered; forgotten ones are reported again.
    private static let maxDeliveries = 1_000

    private var known: [Int64: Set<RefusalText>] = [:]

    /// The texts that were not reported yet; they then count as reported.
    mutating func news(_ texts: Set<RefusalText>) -> [RefusalText] {
        if known.count >= Self.maxDeliveries { known.removeAll() }
        return texts.filter { text in
            known[text.deliveryID, default: []].count < Self.maxTexts
                && known[text.deliveryID, default: []].insert(text).inserted
        }
    }
}

/// When gathered outcomes are stored although their batch is not full; at most one timer runs.
struct FlushSchedule: ~Copyable, Sendable {
    /// How long outcomes gather.
    let delay: Duration
    private let isRunning = Mutex(false)

    init(delay: Duration) {
        self.delay = delay
    }

    /// Whether the caller has to start the timer, because none runs.
    borrowing func begin() -> Bool {
        isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
    }

    /// Notes that the timer has fired.
    borrowing func end() {
        isRunning.withLock { $0 = false }
    }
}

/// The signals that wake a sender's tasks.
struct SenderSignals: Sendable {
    /// There is room for another part, or there may be something to claim.
    let claim = EventSignal()
    /// The dispatch state may be empty: a task that waits for that checks it.
    let idle = EventSignal()
    /// There are outcomes to store.
    let store = EventSignal()
    /// Messages wait for rate slices.
    let rates = EventSignal()
    /// Something happened while this child probes the gateway, or the child has to end.
    let probe = EventSignal()
}
