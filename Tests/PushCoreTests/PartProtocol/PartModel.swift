@testable import PushCore

/// The part protocol as a pure value: database, owners, journals, gateway and supervisors in one.
///
/// It is the specification of how a part is claimed, sent, stored, ended and recovered. A test runs random schedules,
/// hundreds of thousands of them, through it and checks ``violation`` after every event.
///
/// What the model leaves out on purpose: time (a lease is two looks of a sweep with nothing between them, and an owner's
/// own clock stops it no earlier than the fence does), windows and streams (any set of marked messages may be under way), and pauses of a process (an owner of which nothing is
/// heard between two looks of a sweep, and which then goes on, is one that was stopped and continued).
struct PartModel: Sendable, Hashable {
    /// What a delivery wants done with ambiguous messages.
    let policy: AmbiguityPolicy
    /// How many attempts a message has.
    let maxAttempts: Int
    /// The measures that are in force.
    let guards: PartGuards

    /// All messages of the delivery.
    let target: MessageSet
    var parts: [ModelPart]
    var owners: [ModelOwner]

    /// Rows of the broad log, by status.
    var sent = MessageSet.empty
    var failed = MessageSet.empty
    var unknown = MessageSet.empty
    /// Messages without a row in parts that ended with the rest canceled.
    var canceledRest = MessageSet.empty
    /// Messages that got a second row.
    var doubled = MessageSet.empty
    /// The sum of the parts' counters.
    var counted = 0

    /// How often a message reached its device.
    var delivered = MessageTally()
    /// How often a message was ambiguous.
    var ambiguous = MessageTally()
    /// Messages that the gateway has refused.
    var refused = MessageSet.empty
    /// On connections that are gone, and perhaps still to be processed.
    var stray = MessageSet.empty

    /// Makes a delivery of at most 64 messages in parts of the given sizes, with owners that have claimed nothing.
    init(
        partSizes: [Int],
        owners: Int,
        policy: AmbiguityPolicy,
        maxAttempts: Int = 2,
        guards: PartGuards = .all
    ) {
        self.policy = policy
        self.maxAttempts = maxAttempts
        self.guards = guards
        self.owners = Array(repeating: ModelOwner(), count: owners)
        parts = []
        var end = 0
        for size in partSizes {
            let messages = MessageSet.first(end + size) - MessageSet.first(end)
            end += size
            if !messages.isEmpty { parts.append(ModelPart(messages: messages, attempt: 1)) }
        }
        target = MessageSet.first(end)
    }

    /// Messages that have an outcome row.
    var recorded: MessageSet { sent | failed | unknown }

    /// Takes a step and says what it brought about.
    mutating func handle(_ event: PartEvent) -> [PartAction] {
        switch event {
        case .claim(let owner, let part, let replyArrives): claim(owner, part, replyArrives)
        case .reconnect(let owner): reconnect(owner)
        case .readKnown(let owner): readKnown(owner)
        case .mark(let owner, let count, let replyArrives): mark(owner, count, replyArrives)
        case .intend(let owner, let messages): intend(owner, messages)
        case .write(let owner, let messages): write(owner, messages)
        case .process(let owner, let messages, let answer): process(owner, messages, answer)
        case .refuse(let owner, let messages): refuse(owner, messages)
        case .read(let owner, let messages): read(owner, messages)
        case .hold(let owner, let messages): hold(owner, messages)
        case .decide(let owner): decide(owner)
        case .openCircuit(let owner): openCircuit(owner)
        case .loseConnection(let owner): loseConnection(owner)
        case .processStray(let messages): processStray(messages)
        case .store(let owner): store(owner)
        case .executeStore(let owner): executeStore(owner)
        case .acknowledgeStore(let owner): acknowledgeStore(owner)
        case .loseStore(let owner): loseStore(owner)
        case .renew(let owner): renew(owner)
        case .giveBack(let owner): giveBack(owner)
        case .cancelRest(let owner): cancelRest(owner)
        case .crash(let owner): crash(owner)
        case .loseHost(let owner): loseHost(owner)
        case .replay(let owner, let replyArrives): replay(owner, replyArrives)
        case .observe(let part): observe(part)
        case .sweep(let part): sweep(part)
        case .stop(let part): stop(part)
        }
    }

    /// Whether a decision under this token is made: the part still has it and is claimed.
    func stands(_ part: ModelPart, token: Int) -> Bool {
        if guards.contains(.token), part.token != token { return false }
        if guards.contains(.claimedState), part.state != .claimed { return false }
        return true
    }
}

/// What must hold after every event.
extension PartModel {
    /// A promise of the protocol that is broken in the present state, or nil when all hold.
    var violation: String? {
        var unfinished = MessageSet.empty
        var overlap = MessageSet.empty
        // An index, not an iterator: a debug build checks this some ten million times.
        var index = 0
        while index < parts.count {
            if parts[index].state != .done {
                overlap |= unfinished & parts[index].messages
                unfinished |= parts[index].messages
            }
            index += 1
        }
        let recorded = recorded
        if !overlap.isEmpty { return "messages \(overlap) are in two unfinished parts" }
        let lost = target - unfinished - recorded - canceledRest
        if !lost.isEmpty { return "messages \(lost) have no outcome and are in no unfinished part" }
        if !doubled.isEmpty { return "messages \(doubled) have two outcomes" }
        if counted != recorded.count { return "the counters say \(counted) and there are \(recorded.count) rows" }
        let both = canceledRest & recorded
        if !both.isEmpty { return "messages \(both) are canceled and have an outcome" }
        return deliveryViolation
    }

    private var deliveryViolation: String? {
        if !sent.isSubset(of: delivered.once) { return "messages \(sent - delivered.once) are sent and never arrived" }
        if !failed.isSubset(of: refused) { return "messages \(failed - refused) failed and were never refused" }
        let canceled = canceledRest & delivered.once
        if !canceled.isEmpty { return "messages \(canceled) are canceled and arrived" }
        let twice = policy == .report ? delivered.twice : delivered.twice - ambiguous.once
        if !twice.isEmpty { return "messages \(twice) arrived twice" }
        let thrice = delivered.thrice - ambiguous.twice
        if !thrice.isEmpty { return "messages \(thrice) arrived three times and were ambiguous only once" }
        return nil
    }

    /// Whether every message has its outcome and every part has ended.
    var isFinished: Bool {
        target.isSubset(of: recorded | canceledRest) && parts.allSatisfy { $0.state == .done }
    }
}

/// The measures that make the part protocol safe. Each can be left out, so that tests show what it is needed for.
struct PartGuards: OptionSet, Sendable, Hashable {
    /// The bits.
    let rawValue: UInt16

    /// A decision is made only under the part's present fencing token.
    static let token = PartGuards(rawValue: 1 << 0)
    /// A decision is made only while the part is claimed, so a repeated closing transaction does nothing.
    static let claimedState = PartGuards(rawValue: 1 << 1)
    /// The dispatch mark is committed before a message is sent.
    static let mark = PartGuards(rawValue: 1 << 2)
    /// The intent is journaled before a message is sent.
    static let intent = PartGuards(rawValue: 1 << 3)
    /// The journal is cut only after the commit is acknowledged.
    static let cutAfterCommit = PartGuards(rawValue: 1 << 4)
    /// The outcomes already known are read after the claim.
    static let knownOutcomes = PartGuards(rawValue: 1 << 5)
    /// A second outcome row for a message is impossible.
    static let uniqueOutcome = PartGuards(rawValue: 1 << 6)
    /// Counters grow by the rows that were really inserted.
    static let countInserted = PartGuards(rawValue: 1 << 7)
    /// The retry part is made in the transaction that closes the part.
    static let atomicHandOver = PartGuards(rawValue: 1 << 8)
    /// A journal is replayed only when its process is dead, which the file lock proves.
    static let journalLock = PartGuards(rawValue: 1 << 9)
    /// What was ambiguous or refused is noted in the transaction that releases the part.
    static let noteAtRelease = PartGuards(rawValue: 1 << 10)

    /// What may have arrived gets an outcome of its own before the rest of its part gets one for all.
    static let resolveAmbiguous = PartGuards(rawValue: 1 << 11)

    /// All measures: the protocol as it is.
    static let all = PartGuards(rawValue: (1 << 12) - 1)
}
