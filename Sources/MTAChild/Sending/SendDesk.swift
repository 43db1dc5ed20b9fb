import Gateways
import PushCore
import Store

/// The child's bookkeeping of parts and messages between claim and store, as a value: no I/O, no clock of its own.
///
/// Everything that happens comes in as an ``Event``, everything to be done goes out as ``Action``s, in order. The order
/// carries the promise of the design: a mark is committed before an intent is journaled, an intent before its messages are
/// submitted, answers before anything else happens with them, and the journal is cut only when nothing in it is unsettled.
struct SendDesk: Sendable {
    let window: Int
    let batchSize: Int
    let applicationID: Int32
    var parts: [PartToken: HeldPart] = [:]
    var flights: [Int64: Flight] = [:]
    var waiting: [PartToken] = []
    var outcomes: OutcomeBatch
    /// Messages that were sent, or are about to be, and whose outcome is not stored.
    var unsettled = 0
    /// Those of the current outcome batch.
    var outcomeWindowRows = 0
    var counters = SendCounters()
    var isMarking = false
    var reserved = 0
    var mayDispatch = true
    var isPaused = false
    var isHurrying = false
    var wantsCut = false
    var batchesBeingStored = 0
    var nextBatchID: Int64 = 1 << 40
    var random = SystemRandomNumberGenerator()

    init(window: Int, batchSize: Int, applicationID: Int32) {
        self.window = window
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

    /// The parts whose leases have to be renewed.
    var heldTokens: [PartToken] { parts.values.filter { !$0.isFenced }.map(\.holding) }

    /// Takes the outcomes that have gathered, to be stored in one transaction.
    mutating func takeOutcomes() -> (batch: OutcomeBatch, windowRows: Int)? {
        guard !outcomes.isEmpty else { return nil }
        let taken = (outcomes, outcomeWindowRows)
        outcomes = OutcomeBatch(capacity: batchSize)
        outcomeWindowRows = 0
        batchesBeingStored += 1
        return taken
    }

    /// - Parameter now: milliseconds since 1970 on the database's clock.
    mutating func handle(_ event: Event, now: Int64) -> [Action] {
        var actions: [Action] = []
        switch event {
        case .prepared(let part): prepared(part, now, &actions)
        case .marked(let marks, let held): marked(marks, held, now, &actions)
        case .markFailed:
            endMarking()
            if isHurrying { giveBackWaiting(&actions) }
        case .settled(let batchID, let settled): self.settled(batchID, settled, now, &actions)
        case .resendDue(let batchID): resend(batchID, now, &actions)
        case .stored(let report, let holdings, let windowRows): stored(report, holdings, windowRows, &actions)
        case .leasesLost(let lost):
            for holding in lost { fence(holding, &actions) }
            // What of them waits in the gateway must not leave; what is of others is sent again for free.
            actions.append(.cancelQueued)
        case .leaseValid(let isValid):
            if mayDispatch, !isValid { actions.append(.cancelQueued) }
            mayDispatch = isValid
        case .paused(let paused): isPaused = paused
        case .hurry:
            isHurrying = true
            actions.append(.cancelQueued)
            giveBackWaiting(&actions)
        case .journalLong: wantsCut = true
        case .journalCut: wantsCut = false
        }
        dispatch(&actions)
        cutIfQuiet(&actions)
        return actions
    }

    // MARK: From the claim to the gateway

    private mutating func prepared(_ prepared: PreparedPart, _ now: Int64, _ actions: inout [Action]) {
        var part = HeldPart(prepared)
        counters.progress += 1
        counters.resentAfterAmbiguity += Int64(part.resent)
        for decided in prepared.decided {
            if decided.status == .failed { counters.failed += 1 }
            record(
                &part,
                row: decided.row,
                decided.status,
                reason: decided.reason,
                httpStatus: 0,
                gatewayMessageID: nil
            )
        }
        counters.retried += Int64(part.retries.count)
        // The key has the token: this child may claim a part again while messages of an earlier claim are on the wire.
        parts[part.holding] = part
        if !part.slices.isEmpty { waiting.append(part.holding) }
        closeIfDone(part.holding, now, &actions)
        if !outcomes.isEmpty { actions.append(.store(isFull: outcomes.count >= batchSize)) }
        if isHurrying { giveBackWaiting(&actions) }
    }

    /// Asks for the marks of the next slices, as many as the window takes.
    mutating func dispatch(_ actions: inout [Action]) {
        guard !isMarking, mayDispatch, !isPaused, !isHurrying, !wantsCut, !waiting.isEmpty else { return }
        var marks: [PartMark] = []
        let before = unsettled
        for holding in waiting {
            guard let part = parts[holding], let slice = part.slices.first else { continue }
            guard unsettled == 0 || unsettled + slice.rows.count <= window else { break }
            unsettled += slice.rows.count
            marks.append(PartMark(part: holding.part, token: holding.token, through: slice.markThrough))
        }
        guard !marks.isEmpty else { return }
        isMarking = true
        reserved = unsettled - before
        actions.append(.mark(marks))
    }

    private mutating func marked(_ marks: [PartMark], _ held: Set<Int64>, _ now: Int64, _ actions: inout [Action]) {
        endMarking()
        counters.progress += 1
        var journal: [UInt8] = []
        var submissions: [Action] = []
        for mark in marks {
            let holding = mark.holding
            guard let slice = parts[holding]?.slices.first else { continue }
            if !held.contains(holding.part) { fence(holding, &actions) }
            // What must not leave now waits and is marked again; a mark may say too much without harm.
            guard mayDispatch, !isPaused, !isHurrying, var part = parts[holding], !part.isFenced else { continue }
            unsettled += slice.rows.count
            part.slices.removeFirst()
            part.inGateway += slice.rows.count
            parts[holding] = part
            if part.slices.isEmpty { waiting.removeAll { $0 == holding } }
            flights[slice.batch.id] = Flight(
                holding: holding,
                rows: slice.rows,
                batch: slice.batch,
                open: slice.rows.count
            )
            JournalEncoder.appendIntent(
                part: holding.part,
                token: holding.token,
                ranges: Self.ranges(slice.rows.lazy.map { part.sequences[Int($0)] }),
                to: &journal
            )
            submissions.append(.submit(slice.batch))
        }
        if !journal.isEmpty { actions.append(.journal(journal)) }
        actions.append(contentsOf: submissions)
        actions.append(.claimMore)
        if isHurrying { giveBackWaiting(&actions) }
    }

    /// Frees the window's room that was kept for the marked messages; those that are sent take it again.
    private mutating func endMarking() {
        isMarking = false
        unsettled -= reserved
        reserved = 0
    }

    // MARK: Free resends

    private mutating func resend(_ batchID: Int64, _ now: Int64, _ actions: inout [Action]) {
        guard var flight = flights[batchID], let part = parts[flight.holding] else { return }
        guard !part.isFenced, !isHurrying else {
            abandon(batchID, &actions)
            return
        }
        guard mayDispatch, !isPaused else {
            actions.append(.resendLater(batchID: batchID, attempt: flight.attempt))
            return
        }
        let rows = flight.resend.map { flight.rows[Int($0)] }
        nextBatchID += 1
        let again = flight.batch.subset(flight.resend, id: nextBatchID)
        flight.open -= flight.resend.count
        flights[again.id] = Flight(
            holding: flight.holding,
            rows: rows,
            batch: again,
            open: rows.count,
            attempt: flight.attempt + 1
        )
        flight.resend = []
        flights[batchID] = flight.open > 0 ? flight : nil
        parts[flight.holding]?.inGateway += rows.count
        var journal: [UInt8] = []
        JournalEncoder.appendIntent(
            part: flight.holding.part,
            token: flight.holding.token,
            ranges: Self.ranges(rows.lazy.map { part.sequences[Int($0)] }),
            to: &journal
        )
        actions.append(.journal(journal))
        actions.append(.submit(again))
    }

    /// Leaves the unprocessed messages of a batch to the part's next owner.
    mutating func abandon(_ batchID: Int64, _ actions: inout [Action]) {
        guard var flight = flights[batchID] else { return }
        unsettled -= flight.resend.count
        flight.open -= flight.resend.count
        flight.resend = []
        flights[batchID] = flight.open > 0 ? flight : nil
        dropIfGone(flight.holding, &actions)
    }
}
