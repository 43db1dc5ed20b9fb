import PushCore
import Store

/// Outcomes between their answer and the database.
struct Outbox: Sendable {
    /// So many outcomes of deliveries with the policy `report` are stored without waiting for more: beside a batch that is stored and one
    /// that gathers there is room for as many on the wire as a window allows them.
    static let reportedBatch = 1_000

    /// So many are stored without waiting for more, as usual, unless the window is too small for that.
    let batchSize: Int
    /// Those that gather for the next transaction.
    private(set) var outcomes: OutcomeBatch
    /// Messages of the window that they end.
    private(set) var windowRows = 0
    /// Those of them whose delivery's policy is `report`.
    private(set) var reported = 0
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
        if part.isReported { reported += 1 }
    }

    /// The outcome that was counted last ends no message of the window after all.
    mutating func uncountRow() { windowRows -= 1 }

    /// Adds an outcome of a part's message.
    ///
    /// - Parameters:
    ///   - firstOf: the application of which no message to the push token was taken before; nil if one was.
    ///   - isDecision: a `failed` that no gateway said; other statuses speak for themselves.
    mutating func append(
        of part: HeldPart,
        row: Int32,
        status: MessageStatus,
        httpStatus: Int16,
        reason: String,
        gatewayMessageID: String?,
        tokenEffect: TokenEffect,
        failure: MessageFailure?,
        healsErrors: Bool,
        firstOf application: Int32?,
        isDecision: Bool
    ) {
        outcomes.append(
            part: part.claimed.id,
            token: part.claimed.fencingToken,
            sequence: part.sequences[Int(row)],
            subscriptionID: part.subscriptionIDs[Int(row)],
            status: status,
            httpStatus: httpStatus,
            reason: reason,
            gatewayMessageID: gatewayMessageID,
            attempt: part.claimed.attempt,
            tokenEffect: tokenEffect,
            failure: failure,
            healsErrors: healsErrors,
            firstOf: application,
            isDecision: isDecision
        )
    }

    /// Adds the end of a part.
    mutating func end(_ part: ClosingPart) { outcomes.closing.append(part) }

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
