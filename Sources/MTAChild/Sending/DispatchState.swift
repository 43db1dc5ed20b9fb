import Gateways
import ProcessProtocol
import PushCore
import Store

/// The child's bookkeeping of parts and messages between claim and store, as a value: no input or output, no clock of its own.
///
/// Everything that happens comes in as an ``Event``, everything to be done goes out as ``Action``s, in order. The order carries the promise of
/// the design: a mark is committed before its messages are submitted, an intent is journaled when they get their streams, answers are journaled
/// before anything else happens with them, and a cut of the journal leaves in it what it says of parts that the database does not have the end
/// of. Three questions need their answer at once: ``aboutToSend(_:now:isLeaseValid:)``, ``takeOutcomes()`` and ``slicesToAsk(at:)``.
///
/// ``Admission/state-swift.property`` tells the life: whether messages leave, one by one or none. A message's way is
///
///     parts: loaded -> waiting -> marked -> flights: in the gateway -> outbox -> stored
///                ^                               | unsent: due, again      | retry: with the end of its part
///
/// ``DispatchWindow`` counts those between mark and store, and ``SendingPace`` how many of them may leave a second.
struct DispatchState: Sendable {
    let applicationID: Int32
    var parts: [PartToken: HeldPart] = [:]
    var flights = FlightTable()
    /// Parts with slices that are not sent yet.
    var waiting: [PartToken] = []
    /// Batches with messages that may be sent again as soon as anything may be sent.
    var due: [Int64] = []
    var window: DispatchWindow
    var outbox: Outbox
    var admission = Admission()
    var pauses = DeliveryPauses()
    var pace = SendingPace()
    var endings = PartEndings()
    var guards = TokenGuards()
    var gateway = GatewayHealth()
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

    /// Loaded messages that wait for the dispatch window; those of deliveries that go at a pace of their own take no room from others.
    var waitingMessages: Int {
        guard pace.isFree else {
            return waitingByDelivery.reduce(0) { $0 + (pace.isEnough($1.value, of: $1.key) ? 0 : $1.value) }
        }
        return waiting.reduce(0) { $0 + (parts[$1]?.slices.messageCount ?? 0) }
    }

    /// Limited deliveries of which enough is loaded: what more of them is claimed takes room from others, and time from other hosts.
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

    /// Whether what has gathered is stored without waiting for more.
    var storesAtOnce: Bool { admission.givesBack || outbox.isFull(for: window) }

    /// Outcomes to be stored in one transaction, and how many messages of the window they end; nil if there are none.
    mutating func takeOutcomes() -> (batch: OutcomeBatch, windowRows: Int)? { outbox.take(at: moment) }

    /// The slices of rates that messages wait for; they count as asked for.
    mutating func slicesToAsk(at moment: Duration) -> [(limit: Int64, messages: Int32)] { pace.slicesToAsk(at: moment) }

    /// Nothing is held, stored or on its way.
    var isEmpty: Bool { parts.isEmpty && outbox.isEmpty && flights.isEmpty && !window.isMarking }

    /// The parts that this child answers for.
    var heldTokens: [PartToken] { parts.values.filter { !$0.isFenced }.map(\.claim) }

    /// The deliveries of the held parts.
    var heldDeliveries: Set<Int64> { Set(parts.values.lazy.filter { !$0.isFenced }.map(\.claimed.deliveryID)) }

    /// The owner's monotonic clock, told before each event.
    mutating func advance(to moment: Duration) { self.moment = moment }

    /// - Parameter now: milliseconds since 1970 on the database's clock.
    mutating func handle(_ event: Event, now: Int64) -> [Action] { handle([event], now: now) }

    /// The same of what has happened at once: what may follow from it is looked at when all of it is known.
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
            // Parts that have ended meanwhile are not named either, and nobody took them.
            let lost = lost.filter { parts[$0].map { !$0.isClosing && !$0.isFenced } == true }
            guard !lost.isEmpty else { return }
            for claim in lost { fence(claim, &actions) }
            // What of them waits in the gateway must not leave; what is of others is sent again for free.
            actions += [.tellLost(lost.count), .cancelQueued]
        case .leaseValid(let isValid):
            if admission.lease(isValid: isValid) { actions.append(.cancelQueued) }
        case .gatewayFailed(let reason):
            gateway.connectionFailed(reason, isNeeded: !parts.isEmpty, at: moment)
        case .gatewayOpened(let takesInSilence): gateway.open(takesInSilence: takesInSilence)
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
            // Who waits for a message in an hour is not stuck.
            if !pace.isFree, window.inGateway == 0 { counters.progress += 1 }
        case .lookAgain: pace.timerFired()
        case .slices(let slices, let asked):
            // Who waits for its turn is not stuck.
            counters.progress += 1
            pace.take(slices, askedFor: asked, at: moment)
        }
    }

    /// What may follow from anything that happened.
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
    /// Why nothing more of a delivery leaves, and how its parts end.
    enum Halt: Sendable, Equatable {
        /// Another owner goes on later.
        case giveBack
        /// What has no outcome gets this one.
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
