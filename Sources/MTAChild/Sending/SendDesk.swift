import Gateways
import PushCore
import Store

/// The child's bookkeeping of parts and messages between claim and store, as a value: no I/O, no clock of its own.
///
/// Everything that happens comes in as an ``Event``, everything to be done goes out as ``Action``s, in order. The order
/// carries the promise of the design: a mark is committed before its messages are submitted, an intent is journaled when
/// they get their streams (``departing(_:now:isLeaseValid:)``), answers are journaled before anything else happens with
/// them, and the journal is cut only when nothing in it is unsettled.
struct SendDesk: Sendable {
    let window: Int
    /// How much memory the batches in the gateway may take before no more is marked.
    let mostBytes: Int
    let batchSize: Int
    let applicationID: Int32
    let journalVersion: UInt16
    var parts: [PartToken: HeldPart] = [:]
    var flights: [Int64: Flight] = [:]
    /// Parts with slices that are not sent yet.
    var waiting: [PartToken] = []
    /// Batches with messages that may be sent again as soon as anything may be sent.
    var due: [Int64] = []
    var outcomes: OutcomeBatch
    /// Messages that were sent, or are about to be, and whose outcome is not stored.
    var unsettled = 0
    /// Those of the current outcome batch.
    var outcomeWindowRows = 0
    /// Messages on the wire, or waiting in the gateway.
    var inGateway = 0
    var counters = SendCounters()
    var isMarking = false
    var reserved = 0
    var isLeaseValid = true
    var isHurrying = false
    var wantsCut = false
    /// The one cut that was asked for is not done: a second one, carried out later, would take what came after the first.
    var isCutting = false
    /// Deliveries whose messages were asked back from the gateway a second time.
    var askedAgain: Set<Int64> = []
    /// Parts that go back and that the database may not have yet: what is known of their messages stands in the journal only.
    var releasing: Set<PartToken> = []
    /// Deliveries of which nothing more leaves.
    var halts: [Int64: Halt] = [:]
    /// When the first of the held deliveries or parts expires, in milliseconds on the database's clock.
    var nextExpiry = Int64.max
    /// Whether a part may have expired that is not at its end.
    var hasExpired = false
    /// Whether a part goes back although its delivery goes on.
    var hasRefused = false
    var circuit = Circuit.closed
    var trouble = Trouble.none
    var detector = TroubleDetector()
    /// How fast messages may leave after the gateway's trouble; nil for as fast as they can.
    var ramp: OpeningRamp?
    /// The owner's monotonic clock, set before each event.
    var moment = Duration.zero
    /// Limits of single devices that may be one of all.
    var soft: [HeldSoft] = []
    /// Whether the gateway has said something else since the last of them.
    var othersPass = false
    /// Answers with a reason that nobody knows, by delivery, since one of its messages was accepted.
    var unknownReasons: [Int64: Int] = [:]
    var massFailure = MassFailureGuard()
    /// The same for each delivery whose push type has a topic of its own.
    var topicGuards: [Int64: TopicGuard] = [:]
    /// Deliveries that this child holds back, until the database is seen to know it.
    var onHold: Set<Int64> = []
    /// The number of the outcome batch that gathers, and of the last one that is stored.
    var batchNumber: Int64 = 1
    var storedBatch: Int64 = 0
    var batchesBeingStored = 0
    var nextBatchID: Int64 = 1 << 40
    var random = SystemRandomNumberGenerator()

    /// A large window of large messages would not leave a child below the memory at which it is replaced: with 24 MiB of them it
    /// holds less than 64 MiB.
    static let usualBytes = 24 * 1_024 * 1_024

    init(
        window: Int,
        mostBytes: Int = .max,
        batchSize: Int,
        applicationID: Int32,
        journalVersion: UInt16 = JournalHeader.version
    ) {
        self.journalVersion = journalVersion
        self.window = window
        self.mostBytes = mostBytes
        self.batchSize = batchSize
        self.applicationID = applicationID
        outcomes = OutcomeBatch(capacity: batchSize)
    }

    /// Loaded messages that wait for the dispatch window.
    var waitingMessages: Int {
        waiting.reduce(0) { $0 + (parts[$1]?.slices.reduce(0) { $0 + $1.rows.count } ?? 0) }
    }

    /// Nothing is held, stored or on its way.
    var isEmpty: Bool {
        parts.isEmpty && outcomes.isEmpty && batchesBeingStored == 0 && flights.isEmpty && !isMarking
    }

    /// The parts that this child answers for.
    var heldTokens: [PartToken] { parts.values.filter { !$0.isFenced }.map(\.holding) }

    /// The deliveries of the held parts.
    var heldDeliveries: Set<Int64> { Set(parts.values.lazy.filter { !$0.isFenced }.map(\.claimed.deliveryID)) }

    /// Whether anything at all may leave.
    var maySend: Bool { isLeaseValid && !isHurrying }

    /// Takes the outcomes that have gathered, to be stored in one transaction.
    mutating func takeOutcomes() -> (batch: OutcomeBatch, windowRows: Int)? {
        guard !outcomes.isEmpty else { return nil }
        let taken = (outcomes, outcomeWindowRows)
        outcomes = OutcomeBatch(capacity: batchSize)
        outcomeWindowRows = 0
        batchNumber += 1
        batchesBeingStored += 1
        return taken
    }

    /// - Parameter now: milliseconds since 1970 on the database's clock.
    mutating func handle(_ event: Event, now: Int64) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .prepared(let part):
            fenceOlder(part.claimed, &actions)
            prepared(part, now, &actions)
        case .refused(let holding): giveBack(holding, PartRecovery(), &actions)
        case .unloaded(let holding, let reason):
            releasing.insert(holding)
            actions.append(.postpone(holding, reason: reason))
        case .released(let holding): releasing.remove(holding)
        case .marked(let marks, let held): marked(marks, held, &actions)
        case .markFailed:
            endMarking()
            if isProbingTrouble { trouble = .probing(mayProbe: true) }
        case .settled(let batchID, let settled): self.settled(batchID, settled, now, &actions)
        case .resendDue(let batchID): if flights[batchID] != nil { due.append(batchID) }
        case .stored(let report, let holdings, let windowRows): stored(report, holdings, windowRows, &actions)
        case .leasesLost(let lost):
            for holding in lost { fence(holding, &actions) }
            // What of them waits in the gateway must not leave; what is of others is sent again for free.
            actions.append(.cancelQueued)
        case .leaseValid(let isValid):
            if isLeaseValid, !isValid { actions.append(.cancelQueued) }
            isLeaseValid = isValid
        case .gatewayFailed(let reason): if !parts.isEmpty { detector.failed(reason, at: moment) }
        case .gatewayReached: detector.answered()
        case .troubleSeen(let seen): troubleSeen(seen, &actions)
        case .probe: if isProbingTrouble, inGateway == 0, !isMarking { trouble = .probing(mayProbe: true) }
        case .deliveryStates(let states):
            cancelHalted(&actions)
            take(states, &actions)
        case .applicationStopped: openCircuit(reason: "", holdsTokenEffects: false, &actions)
        case .circuitFoundOpen: circuitFoundOpen(&actions)
        case .hurry: hurry(&actions)
        case .journalLong: wantsCut = true
        case .journalCut:
            wantsCut = false
            isCutting = false
        }
        finish(now, &actions)
        return actions
    }

    /// What may follow from anything that happened.
    private mutating func finish(_ now: Int64, _ actions: inout [Action]) {
        watchTrouble(now, &actions)
        if now > nextExpiry { haltExpired(now, &actions) }
        settleHalted(&actions)
        decideWhenQuiet(now, &actions)
        guardQuietTopics(now, &actions)
        dispatch(&actions)
        cutIfQuiet(&actions)
        if !outcomes.isEmpty { actions.append(.store(isFull: isHurrying || outcomes.count >= batchSize)) }
    }
}
