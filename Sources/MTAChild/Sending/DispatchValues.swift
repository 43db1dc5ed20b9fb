import Gateways
import PushCore
import Store

/// How much may be on its way at once: the bound of what an owner that is lost can leave ambiguous.
struct DispatchWindow: Sendable {
    /// Enough for a gateway that answers at once: the streams of a connection, and what is beside them.
    static let usual = 4_000
    /// What a window holds beside the messages on the wire: a batch of outcomes that gathers or is stored, and a thousand messages that are
    /// being marked or have their mark when a stream is free, at 100,000 a second those of 10 ms.
    private static let beside = 3_000
    /// From so many streams on more is done at once, the more the more there are…
    private static let streamsOfUsual = 16_000.0
    /// …and at most twice as much: with three times as much a child had 118 MiB in place of 109, and was no faster (700,000 messages at
    /// 200 ms, November 2026).
    private static let mostBreadth = 2.0
    /// A large window of large messages would not leave a child below the memory at which it is replaced, 384 MiB as a rule: 24 MiB of them may
    /// be in the gateway, and twice as much where it takes long to answer.
    static let usualBytes = 24 * 1_024 * 1_024
    private static let longBytes = 2 * usualBytes

    /// The share of a window that only urgent messages get: they would else wait until others have their answers.
    private static let keptShare = 16

    /// Messages that may be without a stored outcome, whatever the gateway's latency.
    let ceiling: Int
    /// Messages that may be without a stored outcome now.
    private(set) var most: Int
    /// How many times as much as usual is stored and loaded at once. What each of these steps costs by itself is then shared by more messages:
    /// 700,000 messages at 200 ms came to 196,000 a second in place of 187,000.
    private(set) var breadth = 1.0
    /// How much memory the batches in the gateway may take before no more is marked.
    private(set) var mostBytes: Int
    /// Messages that were sent, or are about to be, and whose outcome is not stored.
    var unresolved = 0
    /// Messages on the wire, or waiting in the gateway.
    var inGateway = 0
    /// Those of them whose delivery's policy is `report`.
    var reported = 0
    /// Marks are being committed; nothing else is marked meanwhile.
    private(set) var isMarking = false
    private var reserved = 0

    /// - Parameters:
    ///   - most: the size from which it starts.
    ///   - ceiling: the size that it may grow to; as many as at the start unless given.
    init(most: Int, ceiling: Int? = nil, mostBytes: Int) {
        self.ceiling = max(most, ceiling ?? most)
        self.most = most
        self.mostBytes = mostBytes
    }

    /// So many messages may be on the wire at once.
    /// - Parameter batchSize: how many outcomes are stored at once, as usual.
    mutating func adapt(streams: Int, batchSize: Int) {
        guard ceiling > Self.usual else { return }
        breadth = min(Self.mostBreadth, max(1, Double(streams) / Self.streamsOfUsual))
        // More of them gather while others are stored.
        let more = Int((breadth - 1) * Double(3 * batchSize))
        most = min(ceiling, max(Self.usual, Self.beside + streams + more))
        mostBytes = most > Self.usual ? Self.longBytes : Self.usualBytes
    }

    /// Whether so many messages more have room, with so many bytes in the gateway then. What one mark is for always has.
    func admits(_ rows: Int, bytes: Int, isUrgent: Bool = false) -> Bool {
        unresolved == 0 || unresolved + rows <= (isUrgent ? most : most - most / Self.keptShare) && bytes <= mostBytes
    }

    /// The most outcomes that are stored at once: while they are, the other half is on the wire.
    var mostStored: Int { max(1, most / 2) }

    /// Each message that is on its way when its host is lost ends as `unknown` where the policy is `report`, so there are fewer of them than of
    /// others: so many on the wire, and with those whose outcome is not stored at most ``usual``.
    private static let mostReported = 2_000

    /// Whether so many messages of deliveries with the policy `report` have room. What one mark is for always has.
    /// - Parameters:
    ///   - others: those of them on the wire.
    ///   - unstored: those whose outcome is not stored.
    func admitsReported(_ rows: Int, beside others: Int, unstored: Int) -> Bool {
        others + unstored == 0 || others + rows <= Self.mostReported && others + rows + unstored <= Self.usual
    }

    /// Keeps room for messages whose marks are asked for.
    mutating func beginMarking(_ rows: Int) {
        isMarking = true
        reserved = rows
    }

    /// Frees the room that was kept for the marked messages; those that are sent take it again.
    mutating func endMarking() {
        isMarking = false
        unresolved -= reserved
        reserved = 0
    }
}

/// The batches in the gateway, by their number.
struct FlightTable: Sendable {
    private var flights: [Int64: DispatchState.Flight] = [:]
    /// About the memory that they hold.
    private(set) var byteCount = 0

    var isEmpty: Bool { flights.isEmpty }

    var all: Dictionary<Int64, DispatchState.Flight>.Values { flights.values }

    subscript(batchID: Int64) -> DispatchState.Flight? { flights[batchID] }

    /// Keeps a batch as it is now, unless all of its messages have their decision.
    mutating func put(_ flight: DispatchState.Flight) {
        let batchID = flight.batch.id
        let isOpen = flight.open > 0
        if isOpen { byteCount += flight.byteCount }
        let old = isOpen ? flights.updateValue(flight, forKey: batchID) : flights.removeValue(forKey: batchID)
        byteCount -= old?.byteCount ?? 0
    }

    /// Takes a batch out: what is changed in it then is not copied.
    mutating func take(_ batchID: Int64) -> DispatchState.Flight? {
        guard let flight = flights.removeValue(forKey: batchID) else { return nil }
        byteCount -= flight.byteCount
        return flight
    }

    /// Messages of a batch have got streams.
    mutating func depart(_ range: Range<Int32>, of batchID: Int64) { flights[batchID]?.depart(range) }
}

/// Outcomes between their answer and the database.
struct OutcomeQueue: Sendable {
    /// So many outcomes of deliveries with the policy `report` are stored without waiting for more: beside a batch that is stored and one
    /// that gathers there is room for as many on the wire as a window allows them.
    static let reportedBatch = 1_000

    /// So many are stored without waiting for more, as usual, unless the window is too small for that.
    let batchSize: Int
    /// Those that gather for the next transaction.
    var outcomes: OutcomeBatch
    /// Messages of the window that they end.
    var windowRows = 0
    /// Those of them whose delivery's policy is `report`.
    var reported = 0
    /// The number of the batch that gathers.
    private(set) var number: Int64 = 1
    /// That of the last one that is stored.
    private(set) var stored: Int64 = 0
    /// For each batch that is on its way, those of its messages whose delivery's policy is `report`.
    private var underWay: [Int] = []
    private var answered = AnsweredLately()
    /// Parts that are not here any more, with the number of the last batch that has outcomes of theirs, while it is not stored.
    private(set) var leaving: [PartToken: Int64] = [:]

    init(batchSize: Int) {
        self.batchSize = batchSize
        outcomes = OutcomeBatch(capacity: batchSize)
    }

    /// Whether what has gathered is stored without waiting for more.
    func isFull(for window: DispatchWindow) -> Bool {
        outcomes.count >= min(Int(Double(batchSize) * window.breadth), window.mostStored)
            || reported >= Self.reportedBatch
    }

    /// An outcome of the part ends a message of the window.
    mutating func countRow(of part: HeldPart) {
        windowRows += 1
        if part.delivery.ambiguityPolicy == .report { reported += 1 }
    }

    /// Messages whose delivery's policy is `report` and whose outcome is not stored.
    var reportedUnstored: Int { underWay.reduce(reported, +) }

    /// None gathers, and none is on its way.
    var isEmpty: Bool { outcomes.isEmpty && underWay.isEmpty }

    /// Takes what has gathered, to be stored in one transaction.
    ///
    /// - Parameter moment: now, on the owner's monotonic clock.
    mutating func take(at moment: Duration = .zero) -> (batch: OutcomeBatch, windowRows: Int)? {
        guard !outcomes.isEmpty else { return nil }
        outcomes.answeredBefore = answered.count(at: moment)
        if outcomes.refusedTokens > 0 { answered = AnsweredLately() } else { answered.add(outcomes.count, at: moment) }
        let taken = (outcomes, windowRows)
        outcomes = OutcomeBatch(capacity: batchSize)
        underWay.append(reported)
        windowRows = 0
        reported = 0
        number += 1
        return taken
    }

    /// The oldest batch that was taken is in the database.
    mutating func wasStored() {
        stored += 1
        if !underWay.isEmpty { underWay.removeFirst() }
        if !leaving.isEmpty { leaving = leaving.filter { $0.value > stored } }
    }

    /// A part is not here any more.
    mutating func leave(_ claim: PartToken, lastBatch: Int64) {
        if lastBatch > stored { leaving[claim] = lastBatch }
    }
}

/// Whether this child may send at all.
struct SendPermission: Sendable {
    /// The lease holds, by this host's clock.
    var isLeaseValid = true
    /// What is not on the wire goes back, and nothing more leaves.
    var isShuttingDownFast = false
    /// The same as long as the gateway is in trouble; then this child goes on.
    var waitsForGateway = false
    /// What is held is sent, and nothing more is claimed: the child leaves.
    var isDraining = false

    /// Whether what is not on the wire goes back.
    var isGivingBack: Bool { isShuttingDownFast || waitsForGateway }

    var maySend: Bool { isLeaseValid && !isGivingBack }
}

/// Deliveries of which nothing more leaves.
struct DeliveryPauses: Sendable {
    private(set) var halts: [Int64: DispatchState.Halt] = [:]
    /// Deliveries that this child holds back, until the database is seen to know it.
    private var onHold: Set<Int64> = []

    /// A part of the delivery was claimed, which says how the delivery is.
    mutating func claim(_ delivery: Int64, _ halt: DispatchState.Halt?) {
        if let halt { halts[delivery] = halt }
    }

    /// The database says how the delivery is; nil if it is sent.
    /// - Returns: whether what it has in the gateway must not leave any more.
    mutating func take(_ halt: DispatchState.Halt?, of delivery: Int64) -> Bool {
        // The database does not know yet what this child has found.
        if halt == nil, onHold.contains(delivery) { return false }
        onHold.remove(delivery)
        // A delivery that was stopped or has expired stays so.
        if case .close? = halts[delivery] { return false }
        guard halts[delivery] != halt else { return false }
        halts[delivery] = halt
        return halt != nil
    }

    /// The delivery's validity has passed.
    /// - Returns: whether that is new: one that was stopped, or has expired before, stays as it is.
    mutating func expire(_ delivery: Int64) -> Bool {
        if case .close? = halts[delivery] { return false }
        halts[delivery] = .close(.ignored, reason: "expired")
        return true
    }

    /// This child has found that the delivery has to wait.
    /// - Returns: whether that is new: one that was stopped or has expired is over, and once is enough.
    mutating func hold(_ delivery: Int64) -> Bool {
        if case .close? = halts[delivery] { return false }
        guard onHold.insert(delivery).inserted else { return false }
        halts[delivery] = .giveBack
        return true
    }

    /// Nothing of the delivery is here any more.
    /// - Returns: whether this child held it back, and the database was not seen to know it.
    mutating func forget(_ delivery: Int64) -> Bool {
        halts[delivery] = nil
        return onHold.remove(delivery) != nil
    }
}

/// Parts that end before all of their messages were sent.
struct PartEndings: Sendable {
    /// Parts that go back and that the database may not have yet: what is known of their messages stands in the journal only.
    var releasing: Set<PartToken> = []
    /// When the first of the held deliveries or parts expires, in milliseconds on the database's clock.
    var nextExpiry = Int64.max
    /// Whether a part may have expired that is not at its end.
    var hasExpired = false
    /// Whether a part goes back although its delivery goes on.
    var hasRefused = false
    /// Whether a part goes back because a limit holds it and this child leaves.
    var hasLeft = false
    /// Deliveries whose messages were asked back from the gateway a second time.
    var askedAgain: Set<Int64> = []
}

/// Answers that doubt a push token, until it is known whether the token or the application is at fault.
struct TokenGuards: Sendable {
    var application = MassFailureGuard()
    /// The same for each delivery whose push type has a topic of its own.
    var topics: [Int64: TopicGuard] = [:]
}

/// How the gateway is, as far as its answers and its silence tell.
struct GatewayView: Sendable {
    var detector = TroubleDetector()
    /// How fast messages may leave after the gateway's trouble; nil for as fast as they can.
    var ramp: OpeningRamp?
    /// When the last probe was sent.
    var probedAt = Duration.zero
    /// Limits of single devices that may be one of all.
    var soft: [DispatchState.HeldSoft] = []
    /// When the gateway last said something else than that; on the owner's monotonic clock.
    var lastAnswer: Duration?
    /// When it last took a message.
    var lastPass: Duration?
    /// When a connection was last lost.
    var lastLoss: Duration?
    /// When one was lost with messages on it that had no answer, since the gateway last answered.
    var lostUnanswered: Duration?
    /// Since when messages are in the gateway and none of them has had an answer.
    var silence = AnswerSilence()
    /// Whether the gateway answers failures alone.
    var takesInSilence = false
    /// Answers with a reason that nobody knows, by delivery, since one of its messages was accepted.
    var unknownReasons: [Int64: Int] = [:]
    /// Wrong credentials that are stored with the gateway, in its words, of which this child has told.
    var wrongCredentials: Set<String> = []
    /// Refusals of the read at hand for the quota of the whole project.
    var quotaRefusals: [Outcome] = []
    /// The one of which it has not told yet.
    var untoldCredential: String?

    /// It has answered, whatever it said.
    mutating func answered(at moment: Duration) {
        detector.answered()
        lastAnswer = moment
        lostUnanswered = nil
        silence.answered(at: moment)
    }
}

/// Messages of batches without a refusal of a token, since the last with one: what was answered long before a refusal says nothing of the
/// minute that it is in.
struct AnsweredLately: Sendable {
    private static let most = 1_000
    private static let span = Duration.seconds(60)

    private var present = 0
    private var before = 0
    private var begin = Duration.zero

    /// Those of the last minute or two.
    mutating func count(at moment: Duration) -> Int {
        if moment - begin >= Self.span {
            before = moment - begin < Self.span * 2 ? present : 0
            present = 0
            begin = moment
        }
        return min(before + present, Self.most)
    }

    mutating func add(_ number: Int, at moment: Duration) {
        _ = count(at: moment)
        present = min(present + number, Self.most)
    }
}
