import Gateways
import Logging
import NIOCore
import ProcessProtocol
import PushCore
import Store
import Synchronization

/// Carries out what the ``SendDesk`` decides: marks, journal, gateway, store.
///
/// The desk is behind a lock, because answers come on the gateway's event loop and everything else in tasks. An intent is
/// journaled on the event loop before its messages get streams, an answer before the loop goes on, hence before its stream
/// slot is used again.
final class Sender: GatewayDelegate {
    let desk: Mutex<SendDesk>
    let lease = LeaseClock()
    let circuit: CircuitKeeper
    let troubleReport: TroubleReport
    let holder: DeliveryHolder
    let latencies = Mutex(LatencyWindow())
    /// There is room for another part, or something to claim may be there.
    let claimSignal = Signal()
    /// The desk is empty, or may be: who waits for that looks.
    let idleSignal = Signal()
    let store: Store
    let clock: DatabaseClock
    let eventLoop: any EventLoop
    let logger: Logger
    let storeSignal = Signal()
    /// Grows with each part that the database has back.
    let released = Atomic<UInt64>(0)
    let isStopped = Mutex(false)
    let trouble = Mutex(GatewayTrouble())
    let databaseTrouble = Mutex("")
    /// From which the desk's moments count.
    private let start = ContinuousClock.now
    let control: ChildControl
    private let journal: ChildJournal
    private let batchDelay: Duration
    private let isFlushScheduled = Mutex(false)
    private let gatewayBox = Mutex<(any Gateway)?>(nil)
    let marks: AsyncStream<[PartMark]>
    private let marksContinuation: AsyncStream<[PartMark]>.Continuation

    init(
        desk: SendDesk,
        store: Store,
        journal: ChildJournal,
        circuit: CircuitKeeper,
        troubleReport: TroubleReport,
        control: ChildControl,
        clock: DatabaseClock,
        eventLoop: any EventLoop,
        settings: ChildSettings,
        logger: Logger
    ) {
        self.desk = Mutex(desk)
        self.store = store
        self.journal = journal
        self.circuit = circuit
        self.troubleReport = troubleReport
        holder = DeliveryHolder(store: store, logger: logger)
        self.control = control
        self.clock = clock
        self.eventLoop = eventLoop
        self.logger = logger
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

    /// What to show of the child: the present trouble or, if there is none, what the gateway has left behind.
    var lastError: String {
        let present = lastTrouble
        return present.isEmpty ? gatewayNotice?.message ?? "" : present
    }

    /// Messages whose outcome may be wrong, as the gateway has told in the last minutes.
    var gatewayNotice: GatewayEvent? { trouble.withLock { $0.notice() } }

    /// What keeps the gateway from taking messages, if anything does.
    var gatewayTrouble: GatewayEvent? { trouble.withLock { $0.application ?? $0.connection } }

    /// Whether the gateway takes messages, as far as is known.
    var isGatewayWell: Bool { gatewayTrouble == nil }

    /// Nothing is held, on its way, or being given back: everything that the journal tells is in the database.
    var isIdle: Bool { desk.withLock { $0.isEmpty && $0.releasing.isEmpty } }

    /// Tells the desk what happened and does what it says.
    func perform(_ event: SendDesk.Event) {
        let now = clock.nowMilliseconds
        let moment = ContinuousClock.now - start
        let actions = desk.withLock { desk in
            desk.moment = moment
            return desk.handle(event, now: now)
        }
        for action in actions { carryOut(action) }
        if isIdle { idleSignal.fire() }
    }

    private func carryOut(_ action: SendDesk.Action) {
        switch action {
        case .mark(let marks): marksContinuation.yield(marks)
        case .journal(let bytes): write(bytes)
        case .submit(let batch): gateway?.submit(batch)
        case .resendLater(let batchID, let attempt): scheduleResend(batchID, attempt)
        case .store(let isFull): isFull ? storeSignal.fire() : scheduleFlush()
        case .cancelQueued: gateway?.cancelQueued()
        case .release(let part, let recovery): release(part, recovery)
        case .putAside(let part, let recovery, let reason): release(part, recovery, problem: reason, alone: true)
        case .postpone(let part, let reason): release(part, PartRecovery(), problem: reason)
        case .cutJournal: cutJournal()
        case .cutJournalLater: journal.postponeCut()
        case .claimMore: claimSignal.fire()
        case .enterTrouble(let reason, let notBefore): enterTrouble(reason, notBefore)
        case .troubleOver:
            trouble.withLock { $0.application = nil }
            troubleReport.end()
            claimSignal.fire()
        case .openCircuit(let reason, let holdsTokenEffects): openCircuit(reason, holdsTokenEffects)
        case .closeCircuit:
            trouble.withLock { $0.application = nil }
            circuit.close()
            claimSignal.fire()
        case .holdDelivery(let delivery, let reason): holder.hold(delivery, reason: reason)
        }
    }

    // MARK: The journal

    /// - Returns: whether the journal has it.
    @discardableResult
    func write(_ bytes: [UInt8]) -> Bool {
        do {
            try journal.append(bytes)
            if journal.isLong { eventLoop.execute { self.perform(.journalLong) } }
            return true
        } catch {
            journalFailed(error)
            return false
        }
    }

    private func cutJournal() {
        do {
            try journal.cut()
            perform(.journalCut)
        } catch {
            journalFailed(error)
        }
    }

    /// Without the journal nothing may leave: after a crash nobody would know of it.
    private func journalFailed(_ error: any Error) {
        if control.reason != .journal { logger.critical("\(error)") }
        control.hurry(.journal)
        // This may be the middle of a call from the gateway.
        eventLoop.execute { self.perform(.hurry) }
        claimSignal.fire()
    }

    // MARK: Timers

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

    func stop() {
        isStopped.withLock { $0 = true }
        storeSignal.fire()
        marksContinuation.finish()
    }
}
