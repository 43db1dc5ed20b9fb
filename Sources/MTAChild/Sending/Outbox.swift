import PushCore
import Store

/// Outcomes on their way from the answer to the database.
struct Outbox: Sendable {
    /// This many outcomes of deliveries with the policy `report` are stored without waiting for more. So next to a
    /// batch being stored and one that gathers, the window still has room for its maximum of such messages on the wire.
    static let reportedBatch = 1_000

    /// This many outcomes are usually stored without waiting for more, unless the window is too small for that.
    let batchSize: Int
    /// The outcomes that gather for the next transaction.
    private(set) var outcomes: OutcomeBatch
    /// The number of messages of the window that they end.
    private(set) var windowRows = 0
    /// Of these, the messages whose delivery's policy is `report`.
    private(set) var reported = 0
    /// The number of the batch being gathered.
    private(set) var number: Int64 = 1
    /// The number of the last stored batch.
    private(set) var stored: Int64 = 0
    /// For each batch on its way, the number of its messages whose delivery's policy is `report`.
    private var underWay: [Int] = []
    private var answered = AnsweredLately()
    /// Former parts, with the number of the last batch that has outcomes of theirs, until it is stored.
    private(set) var leaving: [PartToken: Int64] = [:]

    init(batchSize: Int) {
        self.batchSize = batchSize
        outcomes = OutcomeBatch(capacity: batchSize)
    }

    /// Whether the gathered outcomes are stored without waiting for more.
    func isFull(for window: DispatchWindow) -> Bool {
        outcomes.count >= min(Int(Double(batchSize) * window.breadth), window.maxStored)
            || reported >= Self.reportedBatch
    }

    /// Counts an outcome of the part that ends a message of the window.
    mutating func countRow(of part: HeldPart) {
        windowRows += 1
        if part.isReported { reported += 1 }
    }

    /// Takes the last count back: that outcome ends no message of the window.
    mutating func uncountRow() { windowRows -= 1 }

    /// Adds an outcome of a part's message.
    ///
    /// - Parameters:
    ///   - firstOf: the application, if no message to the push token was accepted before; nil if one was.
    ///   - isDecision: whether this child decided a `failed` that the gateway did not send; other statuses need no such
    ///     mark.
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

    /// The number of messages whose delivery's policy is `report` and whose outcome is not stored.
    var reportedUnstored: Int { underWay.reduce(reported, +) }

    /// Whether no outcome gathers and none is on its way.
    var isEmpty: Bool { outcomes.isEmpty && underWay.isEmpty }

    /// Takes the gathered outcomes, to be stored in one transaction.
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

    /// Notes that the oldest batch on its way was stored.
    mutating func wasStored() {
        stored += 1
        if !underWay.isEmpty { underWay.removeFirst() }
        if !leaving.isEmpty { leaving = leaving.filter { $0.value > stored } }
    }

    /// Notes that a part is no longer here.
    mutating func leave(_ claim: PartToken, lastBatch: Int64) {
        if lastBatch > stored { leaving[claim] = lastBatch }
    }
}

/// The number of recently answered messages in batches without a refused token, since the last batch with one. Only the
/// last minutes count: answers long before a refusal say nothing about the minute of the refusal.
struct AnsweredLately: Sendable {
    private static let maxCount = 1_000
    private static let span = Duration.seconds(60)

    private var present = 0
    private var before = 0
    private var begin = Duration.zero

    /// The number of the last one to two minutes.
    mutating func count(at moment: Duration) -> Int {
        if moment - begin >= Self.span {
            before = moment - begin < Self.span * 2 ? present : 0
            present = 0
            begin = moment
        }
        return min(before + present, Self.maxCount)
    }

    mutating func add(_ number: Int, at moment: Duration) {
        _ = count(at: moment)
        present = min(present + number, Self.maxCount)
    }
}
