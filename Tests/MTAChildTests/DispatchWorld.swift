import PushCore
import TestSupport
import Testing

@testable import Gateways
@testable import MTAChild
@testable import Store

/// The surroundings of a dispatch state: a gateway that answers in any order, a database that answers late or twice,
/// and operators.
struct DispatchWorld {
    /// A part as the database has it.
    struct Part {
        let id: Int64
        let delivery: CompiledDelivery
        let size: Int
        var token: Int64 = 0
        var isClaimed = false
        var isDone = false
        var mark: Int32 = 0
        var rows: [Int32: MessageStatus] = [:]
        var retries: Set<Int32> = []
        var rest: MessageStatus?
        var soft: [Int32: PartRecovery.SoftAnswer] = [:]
        var ambiguous: Set<Int32> = []

        var sequences: [Int32] { (0..<Int32(size)).map { Int32(id) * 10_000 + $0 } }
    }

    /// The journal's last record of a message under a token.
    struct Entry: Hashable {
        var part: Int64
        var token: Int64
        var sequence: Int32
    }

    /// Limits of messages a second, and what was granted of each.
    var limits: [RateLimit] = []
    /// When the pace is due for another look.
    var looks: [Duration] = []

    /// The delivery whose push type has its own topic.
    static let ownTopic: Int64 = 48

    var random: TestRandom
    var dispatch: DispatchState
    var now = DispatchFixture.start
    var leaseEnd = DispatchFixture.start + 1_000
    var parts: [Int64: Part] = [:]
    var states: [Int64: DeliveryState] = [:]
    /// The delivery states that the dispatch state was last told.
    var told: [Int64: DeliveryState] = [:]
    var marks: [[PartMark]] = []
    var queue: [(batch: Int64, index: Int32)] = []
    var wire: [(batch: Int64, index: Int32)] = []
    var owners: [Int64: (claim: PartToken, sequences: [Int32])] = [:]
    var resends: [Int64] = []
    var stores: [(batch: OutcomeBatch, rows: Int, isCommitted: Bool)] = []
    var journal: [Entry: OutcomeClass?] = [:]
    /// Messages that may have reached a device.
    var mayBeTaken: Set<Int32> = []
    var accepted: Set<Int32> = []
    var isCircuitOpen = false
    var isProbing = false
    var isInTrouble = false
    var isProbingTrouble = false
    var isShuttingDownFast = false
    /// The child drains and claims no more; another one gets what it gives back.
    var isDraining = false
    var isJournalBroken = false
    var stopsApplication = false
    var mixesUp = false
    var stopsDelivery = false
    var nextBatch: Int64 = 1
    var maxUnresolved = 0
    var failures: [String] = []
    /// Counts events, so that a schedule without any is noticed.
    var seen: Set<String> = []

    var mayClaim: Bool { !isShuttingDownFast && !isDraining && !isCircuitOpen && !isInTrouble }

    /// The dispatch state's output, if it is recorded.
    var record: DispatchRecord?

    mutating func fail(_ what: String) { failures.append(what) }

    mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    mutating func perform(_ event: DispatchState.Event) { perform([event]) }

    mutating func perform(_ events: [DispatchState.Event]) {
        dispatch.advance(to: .milliseconds(now - DispatchFixture.start))
        defer {
            if dispatch.flights.byteCount != dispatch.flights.all.reduce(0, { $0 + $1.batch.byteCount }) {
                fail("the bytes in the gateway are counted wrongly")
            }
        }
        let actions = dispatch.handle(events, now: now)
        record?.note(actions)
        for action in actions {
            switch action {
            case .mark(let asked): marks.append(asked)
            case .journal(let bytes): record(bytes)
            case .submit(let batch): submit(batch)
            case .resendLater(let id, _): resends.append(id)
            case .release(let part, let recovery):
                seen.insert("part given back")
                releases.append((part, recovery))
            case .putAside(let part, let recovery, let reason):
                seen.insert(reason == nil ? "part goes alone" : "part put aside")
                releases.append((part, recovery))
            case .postpone(let part, _): releases.append((part, PartRecovery()))
            case .cutJournal(_, let claims): cut(keeping: claims)
            case .cancelQueued: cancelQueued()
            case .enterTrouble:
                seen.insert("trouble")
                isInTrouble = true
            case .troubleOver:
                seen.insert("trouble over")
                isProbingTrouble = false
            case .openCircuit(_, let holds):
                seen.insert(holds ? "mass failure" : "application stopped")
                isCircuitOpen = true
            case .closeCircuit:
                seen.insert("circuit closed")
                isProbing = false
            case .holdDelivery(let id, _):
                seen.insert("delivery held")
                // Its messages may not leave any more, whether the dispatch state knows it or not.
                if states[id] == .inProgress { states[id] = .paused }
                told[id] = states[id]
            case .lookAgain(let pause): looks.append(dispatch.moment + pause)
            case .cutRate: seen.insert("rate cut")
            case .credentialRefused: seen.insert("credential refused")
            case .credentialWorks: seen.insert("credential works")
            case .store, .claimMore, .askForSlices, .tellLost: break
            }
        }
        if dispatch.window.unresolved < 0 { fail("unresolved is \(dispatch.window.unresolved)") }
        if dispatch.window.inGateway != queue.count + wire.count + returning.count {
            fail("\(dispatch.window.inGateway) in the gateway")
        }
        let reported = dispatch.parts.values.filter { $0.delivery.ambiguityPolicy == .report }
        if dispatch.window.reported != reported.reduce(0, { $0 + $1.inGateway }) {
            fail("\(dispatch.window.reported) in the gateway that are reported")
        }
        maxUnresolved = max(maxUnresolved, dispatch.window.unresolved)
        if stores.isEmpty, dispatch.outbox.outcomes.isEmpty, dispatch.outbox.reportedUnstored != 0 {
            fail("\(dispatch.outbox.reportedUnstored) reported outcomes of none")
        }
        if let taken = dispatch.outbox.take() {
            record?.note(taken.batch, windowRows: taken.windowRows)
            stores.append((taken.batch, taken.windowRows, false))
        }
    }

    /// Parts on their way to the database.
    var releases: [(part: PartToken, recovery: PartRecovery)] = []

    /// The database receives one of them.
    mutating func finishRelease() {
        guard !releases.isEmpty else { return }
        let (part, recovery) = releases.remove(at: Int.random(in: 0..<releases.count, using: &random))
        release(part, recovery)
        perform(.released(part))
    }

    /// Messages on their way back to the dispatch state, unsent.
    var returning: [(batch: Int64, index: Int32)] = []

    // MARK: The gateway

    private mutating func submit(_ batch: GatewayRequestBatch) {
        guard let flight = dispatch.flights[batch.id], let part = dispatch.parts[flight.claim] else {
            return fail("a batch without a flight")
        }
        owners[batch.id] = (flight.claim, flight.rows.map { part.sequences[Int($0)] })
        batches[batch.id] = batch
        queue += (0..<Int32(batch.count)).map { (batch.id, $0) }
    }

    var batches: [Int64: GatewayRequestBatch] = [:]

    /// As in the gateway, waiting messages come back a little later.
    private mutating func cancelQueued() {
        returning += queue
        queue = []
    }

    mutating func giveBack() {
        guard !returning.isEmpty else { return }
        let (batch, index) = returning.remove(at: Int.random(in: 0..<returning.count, using: &random))
        perform(
            .resolved(batchID: batch, outcomes: [Outcome(index: index, outcomeClass: .unprocessed, neverLeft: true)])
        )
    }

    /// Some waiting messages get streams, if the dispatch state and its journal permit it.
    mutating func depart() {
        guard let first = queue.first, let batch = batches[first.batch] else { return }
        let count = queue.prefix { $0.batch == first.batch }.count
        let taken = Int32(Int.random(in: 1...min(count, 3), using: &random))
        let indexes = queue.prefix(Int(taken)).map(\.index)
        if indexes.contains(where: { batch.tokens[Int($0)].isEmpty || batch.bodies[Int($0)].isEmpty }) {
            fail("a message leaves of which the batch has let go")
        }
        let departure = GatewayDeparture(batch: batch, ranges: indexes.map { $0..<$0 + 1 })
        let isLeaseValid = now < leaseEnd
        let bytes = dispatch.aboutToSend([departure], now: now, isLeaseValid: { isLeaseValid })
        let isJournalBroken = bytes != nil && chance(400)
        if let bytes { record?.note(journal: bytes) }
        guard let bytes, !isJournalBroken else {
            if !isLeaseValid { seen.insert("refused without lease") }
            cancelQueued()
            if isJournalBroken {
                seen.insert("journal broken")
                self.isJournalBroken = true
                fastShutdown()
            }
            return
        }
        record(bytes)
        queue.removeFirst(Int(taken))
        for index in indexes { leave(first.batch, index) }
    }

    private mutating func leave(_ batch: Int64, _ index: Int32) {
        wire.append((batch, index))
        guard let owner = owners[batch], let part = parts[owner.claim.part] else { return fail("nobody's message") }
        let sequence = owner.sequences[Int(index)]
        let entry = Entry(part: part.id, token: owner.claim.token, sequence: sequence)
        if journal[entry] != .some(nil) { fail("\(sequence) leaves without an intent") }
        if now >= leaseEnd { fail("\(sequence) leaves without a lease") }
        if isShuttingDownFast || isInTrouble || isCircuitOpen { fail("\(sequence) leaves although nothing may") }
        if let state = told[part.delivery.id], state != .inProgress { fail("\(sequence) leaves, delivery \(state)") }
        if part.delivery.isExpired(atMilliseconds: now) { fail("\(sequence) leaves after its validity") }
        if isProbing || isProbingTrouble, wire.count > 1 { fail("a probe is one message") }
        let row = sequence - Int32(part.id) * 10_000
        let isHeld = part.isClaimed && part.token == owner.claim.token
        if !isHeld { fail("\(sequence) leaves although its part was taken over") }
        if part.mark <= row { fail("\(sequence) leaves before its mark") }
        if mayBeTaken.contains(sequence), !part.ambiguous.contains(sequence) {
            fail("\(sequence) is sent twice, and nobody knows")
        }
        if part.rows[sequence] == .unknown { fail("\(sequence) is unknown and leaves again") }
    }

    /// One read brings a few answers, of one batch or of several.
    mutating func answer() {
        let count = Int.random(in: 1...3, using: &random)
        let events = (0..<count).compactMap { _ in anyAnswer() }
        if !events.isEmpty { perform(events) }
    }

    private mutating func anyAnswer() -> DispatchState.Event? {
        guard !wire.isEmpty else { return nil }
        let (batch, index) = wire.remove(at: Int.random(in: 0..<wire.count, using: &random))
        guard let sequence = owners[batch]?.sequences[Int(index)] else {
            fail("nobody's answer")
            return nil
        }
        let part = owners[batch].flatMap { parts[$0.claim.part] }
        let outcome = anyOutcome(index, isOfOwnTopic: part?.delivery.id == Self.ownTopic)
        switch outcome.outcomeClass {
        case .accepted:
            accepted.insert(sequence)
            mayBeTaken.insert(sequence)
        case .ambiguous: mayBeTaken.insert(sequence)
        case .unprocessed, .permanent, .retry, .stopApplication, .stopDelivery: break
        }
        return .resolved(batchID: batch, outcomes: [outcome])
    }

    private mutating func anyOutcome(_ index: Int32, isOfOwnTopic: Bool) -> Outcome {
        if mixesUp, chance(2) {
            return Outcome(index: index, outcomeClass: .permanent, status: 400, isTokenDoubtful: true)
        }
        if stopsDelivery, isOfOwnTopic, chance(10) {
            return Outcome(index: index, outcomeClass: .stopDelivery, status: 400, reason: "TopicDisallowed")
        }
        if stopsApplication, chance(20) { return Outcome(index: index, outcomeClass: .stopApplication, status: 403) }
        if chance(400) {
            return Outcome(
                index: index,
                outcomeClass: .retry,
                status: 429,
                retryAfterMilliseconds: 50,
                applicationWide: true,
                fault: .gateway
            )
        }
        let kinds: [OutcomeClass] = [.accepted, .accepted, .accepted, .permanent, .retry, .unprocessed, .ambiguous]
        let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
        let isAnswer = kind != .unprocessed && kind != .ambiguous
        let faults: [AnswerFault] = [.message, .message, .gateway, .server, .credential, .foreign, .unknown]
        let fault = kind == .retry ? faults[Int.random(in: 0..<faults.count, using: &random)] : nil
        return Outcome(index: index, outcomeClass: kind, status: isAnswer ? 200 : 0, fault: fault)
    }

    // MARK: Rates

    /// Limits one delivery, and the project of all deliveries.
    mutating func limit() {
        limits = [
            RateLimit(id: 1, messagesPerSecond: .random(in: 5...200, using: &random), deliveryID: 16),
            RateLimit(id: 2, messagesPerSecond: .random(in: 20...500, using: &random), isProject: true),
        ]
        perform(.limitsSeen(limits, asked: [16]))
    }

    /// The database answers a request for slices, or fails.
    mutating func grant() {
        let asked = dispatch.pace.slicesToAsk(at: .milliseconds(now - DispatchFixture.start))
        record?.note(asked: asked)
        guard !asked.isEmpty else { return }
        guard !chance(10) else { return perform(.slices([], asked: asked.map(\.limit))) }
        let slices = asked.map { ask in
            RateSlice(
                limit: ask.limit,
                messages: ask.messages,
                startsIn: .milliseconds(Int.random(in: 0...200, using: &random)),
                messagesPerSecond: limits.first { $0.id == ask.limit }?.messagesPerSecond ?? 1
            )
        }
        seen.insert("slice")
        perform(.slices(slices, asked: asked.map(\.limit)))
    }

    /// Advances the pace, and reads the limits, which may have been removed.
    mutating func look() {
        if looks.contains(where: { $0 <= .milliseconds(now - DispatchFixture.start) }) {
            looks = []
            perform(.lookAgain)
        } else if chance(20) {
            limits = limits.filter { _ in !chance(2) }
            perform(.limitsSeen(limits, asked: [16]))
        }
    }

    mutating func drain() {
        isDraining = true
        perform(.drain)
    }

    mutating func fastShutdown() {
        isShuttingDownFast = true
        perform(.fastShutdown)
    }

    // MARK: The journal

    /// Removed records belong to parts whose end the database has.
    private mutating func cut(keeping claims: Set<PartToken>) {
        let gone = journal.filter { !claims.contains(PartToken(part: $0.key.part, token: $0.key.token)) }
        if !gone.isEmpty { seen.insert("journal cut") }
        if gone.count < journal.count { seen.insert("journal cut in part") }
        for (entry, answer) in gone {
            let claim = PartToken(part: entry.part, token: entry.token)
            if answer == nil, !isJournalBroken { fail("cut with \(entry) on the wire") }
            if releases.contains(where: { $0.part == claim }) { fail("cut with \(claim) on its way back") }
            if dispatch.outbox.outcomes.claims.contains(claim)
                || stores.contains(where: { !$0.isCommitted && $0.batch.claims.contains(claim) })
            {
                fail("cut with outcomes of \(claim) that are not stored")
            }
            journal[entry] = nil as OutcomeClass??
        }
    }

    private mutating func record(_ bytes: [UInt8]) {
        guard !isJournalBroken else { return }
        guard let records = try? DispatchFixture.records(bytes), !records.isEmpty else {
            return fail("a damaged record")
        }
        for record in records {
            switch record {
            case .intent(let part, let token, let ranges):
                for sequence in ranges.joined() {
                    journal.updateValue(nil, forKey: Entry(part: part, token: token, sequence: sequence))
                }
            case .answers(let part, let token, _, let answers):
                for answer in answers {
                    let entry = Entry(part: part, token: token, sequence: answer.sequence)
                    // Messages held undecided may be decided after a cut.
                    let mayBeHeld = [.permanent, .ambiguous, .retry].contains(answer.outcomeClass)
                    if journal[entry] == nil, !mayBeHeld {
                        fail("an answer to \(answer.sequence), which never left")
                    }
                    journal[entry] = answer.outcomeClass
                }
            case .closed(let part, let token):
                journal = journal.filter { $0.key.part != part || $0.key.token != token }
            }
        }
    }
}
