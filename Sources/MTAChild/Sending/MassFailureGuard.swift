import PushCore
import Store

/// Keeps a mix-up of environments or bundle ids from failing messages and disabling tokens, and strangers from making it look like one.
///
/// A gateway refuses every token of the other environment as bad. So an answer that doubts a token is *doubtful* and its
/// message stays undecided until enough later answers show that such answers are rare; if they are not, the whole
/// application is wrong, and no message is to blame.
///
/// What counts is their share of the last answers. Undecided messages wait for free, so it is judged when the window is full,
/// or when no more answers come. The answers are this child's: a later one begins anew, and its siblings count for themselves, so
/// that of single messages each child may decide ``fewest`` before it knows better.
///
/// Who has an app's binary can register any number of tokens. So a token that never worked counts only while none of the application has;
/// later its refusal is believed while messages get through, and where none does its part is put aside.
struct MassFailureGuard: Sendable {
    /// What a doubtful answer says about the application.
    enum Weight: Sendable, Hashable {
        case none
        /// It counts once.
        case one
        /// It counts once for a user's messages of a delivery, however many tokens are registered in that name.
        case user(Int32, delivery: Int64)
    }

    /// A doubtful answer whose message is not decided.
    struct Held: Sendable {
        let claim: PartToken
        let row: Int32
        let outcome: Outcome
        /// How many answers of its kind there were when it came, this one included.
        fileprivate let position: Int64

        init(claim: PartToken, row: Int32, outcome: Outcome, position: Int64 = 0) {
            self.claim = claim
            self.row = row
            self.outcome = outcome
            self.position = position
        }
    }

    /// A doubtful answer that counts.
    private struct Doubt: Sendable {
        let position: Int64
        let weight: Weight
    }

    /// The answers that are looked at.
    static let window: Int64 = 500
    /// More than one doubtful answer in so many is no accident.
    static let share: Int64 = 5
    /// More doubtful answers than this among a full window, 20 %, are none.
    static let limit = Int(window / share)
    /// So many doubtful answers say nothing, whatever their share: a few old tokens in a list of testers.
    static let fewest = 10
    /// A probe goes message by message with nothing accepted before: so many doubtful answers in a row say enough.
    static let probeLimit = 10

    /// The answers that count.
    private var answers: Int64 = 0
    private var allAnswers: Int64 = 0
    /// The number of the last answer to a message that was taken, or whose token was known; nil if there was none.
    private var lastWorked: Int64?
    /// Refusals without weight since then.
    private var refusedSince = 0
    /// The doubtful answers in the window, oldest first.
    private var doubtful: ArraySlice<Doubt> = []
    /// What is held and counts, oldest first; all of it is in the window.
    private var held: ArraySlice<Held> = []
    /// What is held and does not count, oldest first, by its place among all answers.
    private var unproven: ArraySlice<Held> = []

    var isEmpty: Bool { held.isEmpty && unproven.isEmpty }
    /// The messages that are held.
    var heldCount: Int { held.count + unproven.count }
    /// The doubtful answers in the window, of those that count.
    var doubtfulCount: Int { doubtful.count }
    /// The messages that are held and do not count.
    var unprovenCount: Int { unproven.count }
    /// The answers that are looked at now.
    var answersInWindow: Int64 { min(answers, Self.window) }
    /// The parts of which messages are held that count.
    var suspects: Set<PartToken> { Set(held.map(\.claim)) }
    /// Whether the answers say that all tokens are wrong, whatever may come yet. It stays so: many answers may come at once, and
    /// those that doubt nothing come last.
    private(set) var isTripped = false
    /// The same when no more answers come.
    var isTrippedWhenQuiet: Bool {
        isTripped || doubtful.count > Self.fewest && Int64(doubtful.count) * Self.share > answersInWindow
    }
    /// The same for a probe, which proves nothing by tokens that never worked.
    var isTrippedByProbe: Bool { doubtful.count + unproven.count >= Self.probeLimit }
    /// Whether refusals that do not count may be believed: messages get through, or the refusals are few.
    var trustsUnprovenRefusals: Bool {
        refusedSince <= Self.fewest || lastWorked.map { allAnswers - $0 < Self.window } ?? false
    }
    /// Whether some that do not count have waited for as many answers as are looked at: more are not kept.
    var hasOldUnproven: Bool { unproven.first.map { $0.position <= allAnswers - Self.window } ?? false }

    /// Counts an answer that doubts nothing.
    ///
    /// - Parameter hasWorked: whether the gateway took the message, or knew its token.
    mutating func count(hasWorked: Bool = true) {
        allAnswers += 1
        if hasWorked {
            lastWorked = allAnswers
            refusedSince = 0
        }
        advance()
    }

    private mutating func advance() {
        answers += 1
        guard let oldest = doubtful.first, oldest.position <= answers - Self.window else { return }
        doubtful.removeFirst()
    }

    /// Counts a doubtful answer, as far as it has weight, and holds its message.
    mutating func hold(_ claim: PartToken, row: Int32, _ outcome: Outcome, weight: Weight = .one) {
        allAnswers += 1
        let isRepeated = if case .user = weight { doubtful.contains { $0.weight == weight } } else { false }
        guard weight != .none, !isRepeated else {
            refusedSince += 1
            unproven.append(Held(claim: claim, row: row, outcome: outcome, position: allAnswers))
            return
        }
        advance()
        doubtful.append(Doubt(position: answers, weight: weight))
        if doubtful.count > Self.limit { isTripped = true }
        held.append(Held(claim: claim, row: row, outcome: outcome, position: answers))
    }

    /// Takes what has left the window: these answers were right.
    mutating func takeOld() -> [Held] { Self.take(&held, through: answers - Self.window) }

    /// Takes what does not count and has waited for long enough.
    mutating func takeOldUnproven() -> [Held] { Self.take(&unproven, through: allAnswers - Self.window) }

    private static func take(_ held: inout ArraySlice<Held>, through last: Int64) -> [Held] {
        guard let oldest = held.first, oldest.position <= last else { return [] }
        let count = held.prefix { $0.position <= last }.count
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }

    /// Takes all that counts.
    mutating func takeAll() -> [Held] {
        defer { held = [] }
        return Array(held)
    }

    /// Takes all that does not count.
    mutating func takeAllUnproven() -> [Held] {
        defer { unproven = [] }
        return Array(unproven)
    }

    /// Forgets what is held of a part: it goes to another owner.
    /// - Returns: how many messages.
    @discardableResult
    mutating func drop(_ claim: PartToken) -> Int {
        let before = heldCount
        if held.contains(where: { $0.claim == claim }) { held = held.filter { $0.claim != claim }[...] }
        if unproven.contains(where: { $0.claim == claim }) {
            unproven = unproven.filter { $0.claim != claim }[...]
        }
        return before - heldCount
    }
}

/// Keeps a delivery whose push type needs push tokens of its own from failing message by message at tokens of another kind.
///
/// Nothing is lost by such an answer but the message, as it does not touch the token. So one message that gets through is enough to
/// believe the others; while there is none, refused messages stay undecided until there are so many that the delivery itself must be
/// wrong. The answers are this child's, as in ``MassFailureGuard``, and have the same weight: a token that never worked, which anybody
/// may have registered, says nothing about the delivery. Where only such ones were refused their parts are put aside.
struct TopicGuard: Sendable {
    private var held: [MassFailureGuard.Held] = []
    private var unproven: [MassFailureGuard.Held] = []
    /// The users whose refusals have counted.
    private var users: Set<MassFailureGuard.Weight> = []
    /// Messages that were refused because of their token, and count.
    private var refused = 0
    /// Those that do not count.
    private var refusedUnproven = 0
    /// Whether a message has got through: tokens are of the right kind then, but for some.
    private(set) var hasWorked = false

    var isEmpty: Bool { held.isEmpty && unproven.isEmpty }
    /// All messages that were refused because of their token.
    var allRefused: Int { refused + refusedUnproven }
    /// Whether so many were refused that nothing is to be expected of the others.
    var isTripped: Bool { !hasWorked && refused >= Int(MassFailureGuard.window) }
    /// The same when no more answers come.
    var isTrippedWhenQuiet: Bool { !hasWorked && refused > MassFailureGuard.fewest }
    /// The same for a probe, which goes message by message.
    var isTrippedByProbe: Bool { !hasWorked && refused >= MassFailureGuard.probeLimit }
    /// Whether so many that do not count are held that nothing is to be expected of the others of their parts.
    var hasManyUnproven: Bool { !hasWorked && unproven.count >= Int(MassFailureGuard.window) }
    /// The same for a probe.
    var hasManyUnprovenInProbe: Bool {
        !hasWorked && !unproven.isEmpty && held.count + unproven.count >= MassFailureGuard.probeLimit
    }
    /// Whether refusals that do not count may be believed: a message got through, or they are few.
    var trustsUnprovenRefusals: Bool { hasWorked || refusedUnproven <= MassFailureGuard.fewest }

    /// Notes that a message got through.
    mutating func noteWorking() { hasWorked = true }

    /// Counts a refused message, as far as it has weight, and holds it.
    mutating func hold(_ claim: PartToken, row: Int32, _ outcome: Outcome, weight: MassFailureGuard.Weight) {
        let message = MassFailureGuard.Held(claim: claim, row: row, outcome: outcome)
        let counts =
            switch weight {
            case .none: false
            case .one: true
            case .user: users.insert(weight).inserted
            }
        guard counts else {
            refusedUnproven += 1
            return unproven.append(message)
        }
        refused += 1
        held.append(message)
    }

    /// Takes all that is held and does not count.
    mutating func takeAllUnproven() -> [MassFailureGuard.Held] {
        defer { unproven = [] }
        return unproven
    }

    /// Takes all that is held and counts.
    mutating func takeAll() -> [MassFailureGuard.Held] {
        defer { held = [] }
        return held
    }

    /// Forgets what is held of a part: it goes to another owner.
    mutating func drop(_ claim: PartToken) {
        held.removeAll { $0.claim == claim }
        unproven.removeAll { $0.claim == claim }
    }
}

/// Answers that doubt a push token, until it is known whether the token or the application is at fault.
struct TokenGuards: Sendable {
    var application = MassFailureGuard()
    /// The same for each delivery whose push type has a topic of its own.
    var topics: [Int64: TopicGuard] = [:]
}
