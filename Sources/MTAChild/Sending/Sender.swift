import Gateways
import Logging
import NIOCore
import ProcessEvents
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Carries out what the ``DispatchState`` decides, and tells it what happens.
///
/// The dispatch state is behind a lock, because answers come on the gateway's event loop and everything else in tasks. An intent is
/// journaled on the event loop before its messages get streams, an answer before the loop goes on, hence before its stream
/// slot is used again.
final class Sender: GatewayDelegate {
    private let dispatch: Mutex<DispatchState>
    let lease = LeaseClock()
    let database: SenderDatabase
    let measures: ChildMeasures
    let signals = SenderSignals()
    /// What is wrong with the way to the gateway.
    let trouble = Mutex(GatewayTrouble())
    let refusals = Mutex(RefusalTexts())
    let clock: DatabaseClock
    let eventLoop: any EventLoop
    let logger: Logger
    /// From which the dispatch state's moments count.
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
            if let newValue { perform(.gatewayOpened(takesInSilence: newValue.takesInSilence)) }
        }
    }

    /// How long the journal is, with what cuts have taken out.
    var journalLength: Int64 { journal.writtenLength }

    /// The present trouble with the gateway or, if there is none, with the database; empty when all is well.
    var lastTrouble: String {
        gatewayTrouble?.standing ?? database.trouble.withLock { $0 }
    }

    /// What to show of the child: the present trouble or, if there is none, what the gateway has left behind.
    var lastError: String {
        let present = lastTrouble
        return present.isEmpty ? gatewayNotice?.standing ?? "" : present
    }

    /// Messages whose outcome may be wrong, as the gateway has told in the last minutes.
    var gatewayNotice: GatewayEvent? { trouble.withLock { $0.notice() } }

    /// What keeps the gateway from taking messages, if anything does.
    var gatewayTrouble: GatewayEvent? { trouble.withLock { $0.application ?? $0.connection } }

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

    /// The journal's records for messages that are about to leave; nil if they, and all that wait in the gateway, have to come back.
    func intents(of departures: [GatewayDeparture]) -> [UInt8]? {
        let now = clock.nowMilliseconds
        return dispatch.withLock { $0.aboutToSend(departures, now: now, isLeaseValid: { lease.isValid }) }
    }

    /// Outcomes to be stored in one transaction, and how many messages of the window they end.
    func takeOutcomes() -> (batch: OutcomeBatch, windowRows: Int)? {
        dispatch.withLock { $0.takeOutcomes() }
    }

    /// Whether what has gathered is stored without waiting for more.
    var storesAtOnce: Bool { dispatch.withLock(\.storesAtOnce) }

    /// Grows with everything that the database has taken.
    var storedSoFar: UInt64 { UInt64(dispatch.withLock(\.outbox.stored)) + database.releasedParts }

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
                "\(count) parts were taken over by another owner; nothing more is decided about them",
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
                "the gateway answers \(reason) to some messages: a credential stored with it is wrong. They wait apart, and all others go on"
            )
        case .credentialWorks(let reason): database.troubleReport.endCredentialWait(reason)
        case .holdDelivery(let delivery, let reason): database.holder.hold(delivery, reason: reason)
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
        database.stop()
        signals.store.fire()
    }
}

/// What the gateway has said in words of messages that it refuses for good: each is told once.
struct RefusalTexts: Sendable {
    /// Texts of a delivery: the database keeps no more of them.
    private static let maxTexts = 20
    /// Deliveries whose texts are remembered; what is forgotten is told again.
    private static let maxDeliveries = 1_000

    private var known: [Int64: Set<RefusalText>] = [:]

    /// Those that were not told yet; they count as told.
    mutating func news(_ texts: Set<RefusalText>) -> [RefusalText] {
        if known.count >= Self.maxDeliveries { known.removeAll() }
        return texts.filter { text in
            known[text.deliveryID, default: []].count < Self.maxTexts
                && known[text.deliveryID, default: []].insert(text).inserted
        }
    }
}

/// When outcomes that gather are stored though their batch is not full: one timer runs at a time.
struct FlushSchedule: ~Copyable, Sendable {
    /// How long outcomes gather.
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
