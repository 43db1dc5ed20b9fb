import Gateways
import ProcessProtocol
import PushCore
import Store

/// The child's bookkeeping of parts and messages between claim and store, as a value: no I/O, no clock of its own.
///
/// Everything that happens comes in as an ``Event``, everything to be done goes out as ``Action``s, in order. The order
/// carries the promise of the design: a mark is committed before its messages are submitted, an intent is journaled when
/// they get their streams (``aboutToSend(_:now:isLeaseValid:)``), answers are journaled before anything else happens with
/// them, and a cut of the journal leaves in it what it says of parts that the database does not have the end of.
struct DispatchState: Sendable {
    let applicationID: Int32
    var parts: [PartToken: HeldPart] = [:]
    var flights = FlightTable()
    /// Parts with slices that are not sent yet.
    var waiting: [PartToken] = []
    /// Batches with messages that may be sent again as soon as anything may be sent.
    var due: [Int64] = []
    var window: DispatchWindow
    var storing: OutcomeQueue
    var permission = SendPermission()
    var pauses = DeliveryPauses()
    var pace = SendingPace()
    var endings = PartEndings()
    var circuit = Circuit.closed
    var guards = TokenGuards()
    var trouble = Trouble.none
    var gateway = GatewayView()
    var counters = SendCounters()
    /// The owner's monotonic clock, set before each event.
    var moment = Duration.zero
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
        storing = OutcomeQueue(batchSize: batchSize)
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
    var storesAtOnce: Bool { permission.isGivingBack || storing.isFull(for: window) }

    /// Nothing is held, stored or on its way.
    var isEmpty: Bool { parts.isEmpty && storing.isEmpty && flights.isEmpty && !window.isMarking }

    /// The parts that this child answers for.
    var heldTokens: [PartToken] { parts.values.filter { !$0.isFenced }.map(\.claim) }

    /// The deliveries of the held parts.
    var heldDeliveries: Set<Int64> { Set(parts.values.lazy.filter { !$0.isFenced }.map(\.claimed.deliveryID)) }

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
            endings.releasing.insert(claim)
            actions.append(.postpone(claim, reason: reason))
        case .released(let claim): endings.releasing.remove(claim)
        case .marked(let marks, let held): marked(marks, held, &actions)
        case .markFailed:
            window.endMarking()
            if isProbingTrouble { trouble = .probing(mayProbe: true) }
        case .resolved(let batchID, let resolved): self.resolved(batchID, resolved, now, &actions)
        case .resendDue(let batchID): if flights[batchID] != nil { due.append(batchID) }
        case .stored(let report, let claims, let windowRows): stored(report, claims, windowRows, &actions)
        case .ended(let report, let claims): ended(report, claims, &actions)
        case .leasesLost(let lost):
            for claim in lost { fence(claim, &actions) }
            // What of them waits in the gateway must not leave; what is of others is sent again for free.
            actions.append(.cancelQueued)
        case .leaseValid(let isValid):
            if permission.isLeaseValid, !isValid { actions.append(.cancelQueued) }
            permission.isLeaseValid = isValid
        case .gatewayFailed(let reason):
            gateway.lastLoss = moment
            if !parts.isEmpty { gateway.detector.failed(reason, silentSince: gateway.silence.since, at: moment) }
        case .gatewayReached: gateway.detector.answered()
        case .troubleSeen(let seen): troubleSeen(seen, &actions)
        case .becameProber: becameProber()
        case .lostProber: if isProbingTrouble { leave(&actions) }
        case .probe: if isProbingTrouble, !awaitsProbe { trouble = .probing(mayProbe: true) }
        case .probeFailed: probeFailed(&actions)
        case .deliveryStates(let states):
            cancelHalted(&actions)
            take(states, &actions)
        case .applicationStopped: openCircuit(reason: "", holdsTokenEffects: false, &actions)
        case .circuitFoundOpen: circuitFoundOpen(&actions)
        case .drain: permission.isDraining = true
        case .fastShutdown: fastShutdown(&actions)
        case .journalLong(let length): actions.append(.cutJournal(upTo: length, keeping: journaledClaims))
        case .capacityChanged(let streams): window.adapt(streams: streams, batchSize: storing.batchSize)
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
        if endings.hasLeft { resolveHalted(&actions) }
        if !storing.outcomes.isEmpty {
            actions.append(.store(isFull: storesAtOnce))
        }
    }
}

extension DispatchState {
    enum Event: Sendable {
        case prepared(PreparedPart)
        /// A claimed part that cannot be prepared goes back as it came.
        case refused(PartToken)
        /// A claimed part whose messages cannot be read now goes back, and waits there.
        case unloaded(PartToken, reason: String)
        /// The database has a part back.
        case released(PartToken)
        /// The database has committed marks; `held` are the parts that still carry this child's token.
        case marked([PartMark], held: Set<Int64>)
        /// The database could not be asked for marks.
        case markFailed
        case resolved(batchID: Int64, outcomes: [Outcome])
        /// The pause before unsent messages of a batch are sent again is over.
        case resendDue(batchID: Int64)
        /// A batch is in the database, each in the order in which it was taken; `claims` are the parts, with their
        /// tokens, that it was about.
        case stored(StoreReport, claims: Set<PartToken>, windowRows: Int)
        /// Ends of parts are in the database whose delivery was locked when the rest of their batch was stored.
        case ended(StoreReport, claims: Set<PartToken>)
        /// The database says that these parts carry another token.
        case leasesLost(Set<PartToken>)
        /// The right to send has been renewed, or has run out on this host's clock.
        case leaseValid(Bool)
        /// The way to the gateway has failed: no connection came about, or one was lost.
        case gatewayFailed(String)
        /// A connection came about to a gateway that takes messages in silence.
        case gatewayReached
        /// What the database says of the gateway's trouble.
        case troubleSeen(TroubleSeen)
        /// This child is the one that probes the gateway in trouble.
        case becameProber
        /// Another child probes it, or the trouble is over.
        case lostProber
        /// One message may leave, to find out whether the gateway takes messages again; this child is the one that tries.
        case probe
        /// The probe was refused, or has met nothing.
        case probeFailed
        /// The states of deliveries, as the database has them now.
        case deliveryStates([Int64: DeliveryState])
        /// Every message of the application would be refused.
        case applicationStopped
        /// Somebody has opened the application's circuit.
        case circuitFoundOpen
        /// Nothing more is claimed: send what is held, and give back what a limit of messages a second holds.
        case drain
        /// Give everything back that is not on the wire.
        case fastShutdown
        /// The journal has grown to a length, in bytes, at which it should be cut.
        case journalLong(Int64)
        /// So many messages may be on the wire at once now, over all connections.
        case capacityChanged(Int)
        /// The limits of messages a second that hold for the child, and for the deliveries that were asked for.
        case limitsSeen([RateLimit], asked: Set<Int64>)
        /// More messages may leave by now.
        case lookAgain
        /// Slices of rates are there; none for a limit that was asked for and could not be had.
        case slices([RateSlice], asked: [Int64])
    }

    enum Action: Sendable {
        case mark([PartMark])
        case journal([UInt8])
        case submit(GatewayRequestBatch)
        case resendLater(batchID: Int64, attempt: Int)
        /// Outcomes are there to be stored: now, because the batch is full, or within the batch delay.
        case store(isFull: Bool)
        case cancelQueued
        case release(PartToken, PartRecovery)
        /// Give a part back whose push tokens were refused, to be judged by itself; with a reason it waits, and others pass it.
        case putAside(PartToken, PartRecovery, reason: String?)
        /// Give a part back as it came; nobody gets it before a pause, which the database sets.
        case postpone(PartToken, reason: String)
        /// Take out of the journal's first bytes what they say of other parts than these: the database has it.
        case cutJournal(upTo: Int64, keeping: Set<PartToken>)
        /// There is room for another part.
        case claimMore
        /// Messages wait for their rate: more may leave after so long.
        case lookAgain(after: Duration)
        /// Messages wait for slices of rates.
        case askForSlices
        /// The gateway has said that a rate is too high.
        case cutRate(limit: Int64, reason: String)
        /// The gateway takes nothing, and it is its own fault: nothing is sent but probes, after what the gateway asked for.
        case enterTrouble(reason: String, notBefore: Duration?)
        /// A probe was answered as one of the gateway's: sending begins again.
        case troubleOver
        /// A credential that is stored with the gateway is wrong: the messages that need it wait apart.
        case credentialRefused(reason: String)
        /// A message that has waited for such a credential got through.
        case credentialWorks(reason: String)
        /// Every message of the application would be refused, for a reason that is not the messages'.
        case openCircuit(reason: String, holdsTokenEffects: Bool)
        /// A probe got through.
        case closeCircuit
        /// Every message of the delivery would be refused, for a reason that is the delivery's own.
        case holdDelivery(Int64, reason: String)
    }

    /// A request batch in the gateway.
    struct Flight: Sendable {
        var claim: PartToken
        var rows: [Int32]
        let batch: GatewayRequestBatch
        /// Messages without a decision.
        private(set) var open: Int
        /// About the memory that the batch holds.
        private(set) var byteCount: Int
        /// Bit by bit, the batch indexes of messages with a decision.
        private var decided: [UInt64] = []
        /// When so few are open, the batch lets go of all others: where a few answers take long, most memory would be that of messages that have
        /// theirs.
        private var letsGoAt: Int
        /// What has got streams, by batch index; it comes in order, so this is one range nearly always.
        var departed: [Range<Int32>] = []
        /// Batch indexes that the gateway did not process: they go out again as the next attempt.
        var resend: [Int32] = []
        /// Batch indexes that never left, or were refused for the application's sake: they go out again as if for the
        /// first time.
        var unsent: [Int32] = []
        /// How often messages of this batch have been handed over.
        var attempt = 1
        /// The pause before what is to be sent again has begun.
        var hasPause = false

        init(claim: PartToken, rows: [Int32], batch: GatewayRequestBatch, attempt: Int = 1) {
            self.claim = claim
            self.rows = rows
            self.batch = batch
            self.attempt = attempt
            open = rows.count
            byteCount = batch.byteCount
            letsGoAt = Self.letsGo(below: rows.count)
        }

        /// A batch is copied when a quarter of it is left, and again with a quarter of that: a third of it all together.
        private static func letsGo(below count: Int) -> Int { count / 4 }

        var waiting: Int { resend.count + unsent.count }

        /// A message has its decision, whatever that is.
        mutating func decide(_ index: Int32) {
            open -= 1
            if decided.isEmpty { decided = [UInt64](repeating: 0, count: (rows.count + 63) / 64) }
            decided[Int(index) / 64] |= 1 << UInt64(index % 64)
        }

        /// Lets go of what no message needs any more, if it is much.
        mutating func letGo() {
            guard open > 0, open <= letsGoAt else { return }
            letsGoAt = Self.letsGo(below: open)
            let kept = rows.indices.filter { decided[$0 / 64] & 1 << UInt64($0 % 64) == 0 }
            batch.keepOnly(kept.map { Int32(truncatingIfNeeded: $0) })
            byteCount = batch.byteCount
        }

        /// One that is to go out again, in another batch, and whether as its next attempt.
        mutating func takeWaiting() -> (index: Int32, isNextAttempt: Bool)? {
            let isNextAttempt = !resend.isEmpty
            guard let index = resend.popLast() ?? unsent.popLast() else { return nil }
            decide(index)
            if waiting == 0 { hasPause = false }
            return (index, isNextAttempt)
        }

        /// Messages that go out again do so in another batch, or are left to another owner.
        mutating func dropWaiting() {
            for index in resend + unsent { decide(index) }
            resend = []
            unsent = []
            hasPause = false
        }

        /// Whether the topic is that of a push type with push tokens of its own.
        var hasSuffixedTopic: Bool { !batch.attributes.topicSuffix.isEmpty }

        func hasDeparted(_ index: Int32) -> Bool { departed.contains { $0.contains(index) } }

        mutating func depart(_ range: Range<Int32>) {
            if let last = departed.last, last.upperBound == range.lowerBound {
                departed[departed.count - 1] = last.lowerBound..<range.upperBound
            } else {
                departed.append(range)
            }
        }
    }

    /// Why nothing more of a delivery leaves, and how its parts end.
    enum Halt: Sendable, Equatable {
        /// Another owner goes on later.
        case giveBack
        /// What has no outcome gets this one.
        case close(MessageStatus, reason: String)
    }

    /// What is known of the application's circuit.
    enum Circuit: Sendable, Equatable {
        case closed
        /// This child tries one message after the other.
        case probing
        case open
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

/// What a child has done since its start.
struct SendCounters: Sendable {
    /// Accepted by the gateway.
    var sent: Int64 = 0
    /// Refused for good.
    var failed: Int64 = 0
    /// Handed to retry parts.
    var retried: Int64 = 0
    /// Recorded as `unknown`.
    var unknown: Int64 = 0
    /// Answers that were stored although the part had another owner by then.
    var late: Int64 = 0
    /// Sent again, or handed to retry parts, although the gateway may have had them.
    var resentAfterAmbiguity: Int64 = 0
    /// Grows with everything that gets on; stands still when the child is stuck.
    var progress: UInt64 = 0
    /// What became of messages.
    var outcomes = OutcomeCounts()
}

/// How many messages ended how: plain numbers, as there are 100,000 of them a second.
struct OutcomeCounts: Sendable {
    /// Why a message ended as it did: nothing to say, its validity, or Adobe's reason of a failure.
    enum ReasonClass: Int, CaseIterable {
        case none, expired, undefined, userUnknown, unreachable, refused

        init(_ status: MessageStatus, _ reason: String, _ failure: MessageFailure?) {
            // The only messages that end so are those whose time is over, whatever the gateway said of an earlier attempt.
            guard status != .ignored || reason != "expired" else {
                self = .expired
                return
            }
            self =
                switch failure?.reason {
                case nil: .none
                case .undefined: .undefined
                case .userUnknown: .userUnknown
                case .unreachable: .unreachable
                case .refused: .refused
                }
        }

        /// Its name as a label.
        var name: String {
            switch self {
            case .none: "none"
            case .expired: "expired"
            case .undefined: "undefined"
            case .userUnknown: "user_unknown"
            case .unreachable: "unreachable"
            case .refused: "refused"
            }
        }
    }

    /// The raw values of statuses go up to 9.
    private static let statuses = 10

    private var counts = [Int64](repeating: 0, count: statuses * ReasonClass.allCases.count)

    mutating func add(_ status: MessageStatus, _ reason: ReasonClass) {
        counts[reason.rawValue * Self.statuses + Int(status.rawValue)] += 1
    }

    /// Those that there are.
    var all: [OutcomeFigure] {
        ReasonClass.allCases.flatMap { reason in
            MessageStatus.allCases.compactMap { status in
                let count = counts[reason.rawValue * Self.statuses + Int(status.rawValue)]
                guard count > 0 else { return nil }
                return OutcomeFigure(outcome: status.name, reasonClass: reason.name, count: count)
            }
        }
    }
}
