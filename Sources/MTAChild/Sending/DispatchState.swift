import Gateways
import ProcessProtocol
import PushCore
import Store

/// The child's record of parts and messages between claim and store, as a value: no input or output, no clock of its
/// own.
///
/// Each occurrence comes in as an ``Event``, and everything to do goes out as ``Action``s. Their order keeps the
/// promise of the design. A mark is committed before its messages are submitted. An intent is journaled when its
/// messages get their streams. Answers are journaled before anything else is done with them. A cut keeps the journal's
/// records of parts whose end the database does not have. Three questions need an immediate answer:
/// ``aboutToSend(_:now:isLeaseValid:)``, ``takeOutcomes()`` and ``slicesToAsk(at:)``.
///
/// ``Admission/state-swift.property`` says whether messages leave freely, one by one, or not at all. A message moves
/// along this path:
///
///     parts: loaded -> waiting -> marked -> flights: in the gateway -> outbox -> stored
///                ^                               | unsent: due, again      | retry: with the end of its part
///
/// ``DispatchWindow`` counts the messages between mark and store, and ``SendingPace`` limits how many may leave a
/// second.
struct DispatchState: Sendable {
    let applicationID: Int32
    var parts: [PartToken: HeldPart] = [:]
    var flights = FlightTable()
    /// Parts with unsent slices.
    var waiting: [PartToken] = []
    /// Batches with messages to send again as soon as sending is allowed.
    var due: [Int64] = []
    var window: DispatchWindow
    var outbox: Outbox
    var admission = Admission()
    var pauses = DeliveryPauses()
    var pace = SendingPace()
    var endings = PartEndings()
    var guards = TokenGuards()
    var gateway = GatewayHealth()
    /// The gateway's answer rows; nil until the gateway is open.
    var gatewayAnswers: GatewayAnswers?
    var notes = AnswerNotes()
    var counters = SendCounters()
    /// The owner's monotonic clock.
    private(set) var moment = Duration.zero
    var nextBatchID: Int64 = 1 << 40
    var random: any RandomNumberGenerator & Sendable

    /// - Parameter random: draws the pauses before retries.
    init(
        window: DispatchWindow,
        batchSize: Int,
        applicationID: Int32,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.window = window
        self.applicationID = applicationID
        self.random = random
        outbox = Outbox(batchSize: batchSize)
    }

    /// Loaded messages that wait for the dispatch window, without those of rate-limited deliveries that have enough
    /// loaded.
    var waitingMessages: Int {
        guard pace.isFree else {
            return waitingByDelivery.reduce(0) { $0 + (pace.isEnough($1.value, of: $1.key) ? 0 : $1.value) }
        }
        return waiting.reduce(0) { $0 + (parts[$1]?.slices.messageCount ?? 0) }
    }

    /// Rate-limited deliveries with enough messages loaded. Claiming more of them would take room from others, and
    /// messages from other hosts.
    var deliveriesAtTheirPace: Set<Int64> {
        guard !pace.isFree else { return [] }
        return Set(waitingByDelivery.filter { pace.isEnough($0.value, of: $0.key) }.keys)
    }

    private var waitingByDelivery: [Int64: Int] {
        waiting.reduce(into: [:]) { sums, claim in
            guard let part = parts[claim] else { return }
            sums[part.claimed.deliveryID, default: 0] += part.slices.messageCount
        }
    }

    /// Whether the gathered outcomes are stored without waiting for more.
    var storesAtOnce: Bool { admission.givesBack || outbox.isFull(for: window) }

    /// The outcomes to store in one transaction, and how many messages of the window they end; nil if there are none.
    mutating func takeOutcomes() -> (batch: OutcomeBatch, windowRows: Int)? { outbox.take(at: moment) }

    /// The rate slices that messages wait for; they are then marked as requested.
    mutating func slicesToAsk(at moment: Duration) -> [(limit: Int64, messages: Int32)] { pace.slicesToAsk(at: moment) }

    /// Whether nothing is held, being stored or on its way.
    var isEmpty: Bool { parts.isEmpty && outbox.isEmpty && flights.isEmpty && !window.isMarking }

    /// The parts whose lease this child holds.
    var heldTokens: [PartToken] { parts.values.filter { !$0.isFenced }.map(\.claim) }

    /// The deliveries of the held parts.
    var heldDeliveries: Set<Int64> { Set(parts.values.lazy.filter { !$0.isFenced }.map(\.claimed.deliveryID)) }

    /// Sets the owner's monotonic clock, before each event.
    mutating func advance(to moment: Duration) { self.moment = moment }

    /// - Parameter now: milliseconds since 1970 on the database's clock.
    mutating func handle(_ event: Event, now: Int64) -> [Action] { handle([event], now: now) }

    /// Handles events that happened together: their consequences are decided once all are known.
    mutating func handle(_ events: [Event], now: Int64) -> [Action] {
        var actions: [Action] = []
        for event in events { take(event, now, &actions) }
        finish(now, &actions)
        return actions
    }

    private mutating func take(_ event: Event, _ now: Int64, _ actions: inout [Action]) {
        switch event {
        case .prepared(let part):
            fenceOlder(part.claimed, &actions)
            prepared(part, now, &actions)
        case .refused(let claim): giveBack(claim, PartRecovery(), &actions)
        case .unloaded(let claim, let reason):
            endings.release(claim)
            actions.append(.postpone(claim, reason: reason))
        case .released(let claim): endings.wasReleased(claim)
        case .marked(let marks, let held): marked(marks, held, &actions)
        case .markFailed:
            window.endMarking()
            admission.allowProbe()
        case .resolved(let batchID, let resolved): self.resolved(batchID, resolved, now, &actions)
        case .resendDue(let batchID): if flights[batchID] != nil { due.append(batchID) }
        case .stored(let report, let claims, let windowRows): stored(report, claims, windowRows, &actions)
        case .ended(let report, let claims): ended(report, claims, &actions)
        case .leasesLost(let lost):
            // The database does not name parts that have ended meanwhile either, but no other owner took them.
            let lost = lost.filter { parts[$0].map { !$0.isClosing && !$0.isFenced } == true }
            guard !lost.isEmpty else { return }
            for claim in lost { fence(claim, &actions) }
            // Their messages in the gateway must not leave; other parts' messages come back too and are sent again at
            // no cost.
            actions += [.tellLost(lost.count), .cancelQueued]
        case .leaseValid(let isValid):
            if admission.lease(isValid: isValid) { actions.append(.cancelQueued) }
        case .gatewayFailed(let reason):
            gateway.connectionFailed(reason, isNeeded: !parts.isEmpty, at: moment)
        case .gatewayOpened(let limits, let answers): gatewayOpened(limits, answers)
        case .gatewayReached: gateway.reached()
        case .troubleSeen(let seen): troubleSeen(seen, &actions)
        case .becameProber: admission.becomeProber()
        case .lostProber: if admission.isProbingGateway { leave(&actions) }
        case .probe: if !awaitsProbe(at: moment) { admission.allowProbe() }
        case .probeFailed: probeFailed(&actions)
        case .deliveryStates(let states):
            cancelHalted(&actions)
            take(states, &actions)
        case .applicationStopped: openCircuit(reason: "", holdsTokenEffects: false, &actions)
        case .circuitFoundOpen: circuitFoundOpen(&actions)
        case .drain: admission.drain()
        case .fastShutdown: fastShutdown(&actions)
        case .journalLong(let length): actions.append(.cutJournal(upTo: length, keeping: journaledClaims))
        case .capacityChanged(let streams): window.adapt(streams: streams, batchSize: outbox.batchSize)
        case .limitsSeen(let limits, let asked):
            pace.take(limits, asked: asked, held: heldDeliveries)
            // A child that waits for the next message of a slow rate is not stuck.
            if !pace.isFree, window.inGateway == 0 { counters.progress += 1 }
        case .lookAgain: pace.timerFired()
        case .slices(let slices, let asked):
            // A child that waits for its turn is not stuck.
            counters.progress += 1
            pace.take(slices, askedFor: asked, at: moment)
        }
    }

    private mutating func gatewayOpened(_ limits: GatewayLimits, _ answers: GatewayAnswers) {
        gatewayAnswers = answers
        gateway.open(maxSilence: limits.maxSilence)
        guard let maximum = limits.maxUnresolvedMessages else { return }
        window = DispatchWindow(size: maximum, maxBytes: DispatchWindow.usualBytes)
    }

    /// Decides what may follow from any event.
    private mutating func finish(_ now: Int64, _ actions: inout [Action]) {
        watchTrouble(now, &actions)
        if now > endings.nextExpiry { haltExpired(now, &actions) }
        resolveHalted(&actions)
        decideWhenQuiet(now, &actions)
        guardQuietTopics(now, &actions)
        if let (limit, reason) = pace.takeRefusal() { actions.append(.cutRate(limit: limit, reason: reason)) }
        dispatch(&actions)
        if endings.causes.contains(.left) { resolveHalted(&actions) }
        if !outbox.outcomes.isEmpty {
            actions.append(.store(isFull: storesAtOnce))
        }
    }
}

extension DispatchState {
    /// Why a delivery's messages no longer leave, and how its parts end.
    enum Halt: Sendable, Equatable {
        /// Another owner continues later.
        case giveBack
        /// Messages without an outcome get this one.
        case close(MessageStatus, reason: String)
    }

    /// Ascending sequence numbers as ranges.
    static func ranges(_ sequences: some Sequence<Int32>) -> [ClosedRange<Int32>] {
        var ranges: [ClosedRange<Int32>] = []
        for sequence in sequences {
            if let last = ranges.last, last.upperBound &+ 1 == sequence {
                ranges[ranges.count - 1] = last.lowerBound...sequence
            } else {
                ranges.append(sequence...sequence)
            }
        }
        return ranges
    }
}
