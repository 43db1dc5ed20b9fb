import PushCore
import Store

/// Keeps a mix-up of environments or bundle ids from failing messages and disabling tokens, and keeps strangers from
/// faking one.
///
/// A gateway refuses every token of the other environment as bad. So an answer that doubts a token is *doubtful*. Its
/// message stays undecided until enough later answers show that such answers are rare. If they are not, the whole
/// application is misconfigured, and no message is to blame.
///
/// The share of doubtful answers among the last ones decides. Undecided messages cost nothing, so the share is judged
/// when the window is full, or when no more answers come. Each child counts only its own answers, and a new child
/// starts from zero. So with single messages each child may decide ``fewest`` of them before it has enough answers.
///
/// Anyone with the app's binary can register any number of tokens. So a token that never worked counts only until one
/// of the application's tokens has worked. After that, its refusal is believed while messages get through; while none
/// does, its part is put aside.
struct MassFailureGuard: Sendable {
    /// How much a doubtful answer counts against the application.
    enum Weight: Sendable, Hashable {
        case none
        /// It counts once.
        case one
        /// It counts once for a user's messages of a delivery, however many tokens are registered under that user.
        case user(Int32, delivery: Int64)
    }

    /// A doubtful answer whose message is undecided.
    struct Held: Sendable {
        let claim: PartToken
        let row: Int32
        let outcome: Outcome
        /// The number of answers of its kind so far, including this one.
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

    /// The number of recent answers considered.
    static let window: Int64 = 500
    /// More than one doubtful answer in this many is not accidental.
    static let share: Int64 = 5
    /// The maximum of doubtful answers in a full window, 20 %; more are not accidental.
    static let limit = Int(window / share)
    /// This many doubtful answers prove nothing, whatever their share: a list of testers may have a few old tokens.
    static let fewest = 10
    /// A probe sends message by message with nothing accepted before: this many doubtful answers in a row are proof
    /// enough.
    static let probeLimit = 10

    /// The answers that count.
    private var answers: Int64 = 0
    private var allAnswers: Int64 = 0
    /// The number of the last answer that accepted a message or recognized its token; nil if there was none.
    private var lastWorked: Int64?
    /// Refusals without weight since then.
    private var refusedSince = 0
    /// The doubtful answers in the window, oldest first.
    private var doubtful: ArraySlice<Doubt> = []
    /// Held messages that count, oldest first; all are in the window.
    private var held: ArraySlice<Held> = []
    /// Held messages that do not count, oldest first, by their position among all answers.
    private var unproven: ArraySlice<Held> = []

    var isEmpty: Bool { held.isEmpty && unproven.isEmpty }
    /// The number of held messages.
    var heldCount: Int { held.count + unproven.count }
    /// The number of doubtful answers in the window that count.
    var doubtfulCount: Int { doubtful.count }
    /// The number of held messages that do not count.
    var unprovenCount: Int { unproven.count }
    /// The number of answers considered now.
    var answersInWindow: Int64 { min(answers, Self.window) }
    /// The parts with held messages that count.
    var suspects: Set<PartToken> { Set(held.map(\.claim)) }
    /// Whether the answers show that all tokens are wrong, whatever follows. The value stays true: many answers may
    /// come at once, and those without doubt come last.
    private(set) var isTripped = false
    /// The same when no more answers come.
    var isTrippedWhenQuiet: Bool {
        isTripped || doubtful.count > Self.fewest && Int64(doubtful.count) * Self.share > answersInWindow
    }
    /// The same for a probe, where tokens that never worked count, too.
    var isTrippedByProbe: Bool { doubtful.count + unproven.count >= Self.probeLimit }
    /// Whether refusals that do not count are believed: messages get through, or the refusals are few.
    var trustsUnprovenRefusals: Bool {
        refusedSince <= Self.fewest || lastWorked.map { allAnswers - $0 < Self.window } ?? false
    }
    /// Whether some messages that do not count have been held for a full window of answers; they are not held longer.
    var hasOldUnproven: Bool { unproven.first.map { $0.position <= allAnswers - Self.window } ?? false }

    /// Counts an answer that is not doubtful.
    ///
    /// - Parameter hasWorked: whether the gateway accepted the message, or recognized its token.
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

    /// Counts a doubtful answer if it has weight, and holds its message.
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

    /// Takes the messages that have left the window: their answers were right.
    mutating func takeOld() -> [Held] { Self.take(&held, through: answers - Self.window) }

    /// Takes the messages that do not count and have been held for a full window.
    mutating func takeOldUnproven() -> [Held] { Self.take(&unproven, through: allAnswers - Self.window) }

    private static func take(_ held: inout ArraySlice<Held>, through last: Int64) -> [Held] {
        guard let oldest = held.first, oldest.position <= last else { return [] }
        let count = held.prefix { $0.position <= last }.count
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }

    /// Takes all messages that count.
    mutating func takeAll() -> [Held] {
        defer { held = [] }
        return Array(held)
    }

    /// Takes all messages that do not count.
    mutating func takeAllUnproven() -> [Held] {
        defer { unproven = [] }
        return Array(unproven)
    }

    /// Forgets a part's held messages: the part goes to another owner.
    /// - Returns: the number of messages forgotten.
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

/// Keeps a delivery whose push type needs its own push tokens from failing message by message on tokens of another
/// kind.
///
/// Such an answer costs only the message, because it does not touch the token. So one message that gets through is
/// enough to believe the other answers. Until then, refused messages stay undecided, until there are so many that the
/// delivery itself must be wrong.
///
/// As in ``MassFailureGuard``, the answers are this child's own and have the same weights. A token that never worked
/// says nothing about the delivery, because anyone may have registered it. If only such tokens were refused, their
/// parts are put aside.
struct TopicGuard: Sendable {
    private var held: [MassFailureGuard.Held] = []
    private var unproven: [MassFailureGuard.Held] = []
    /// The users whose refusals were counted.
    private var users: Set<MassFailureGuard.Weight> = []
    /// The number of messages refused because of their token that count.
    private var refused = 0
    /// The number of those that do not count.
    private var refusedUnproven = 0
    /// Whether a message has got through: then all but a few tokens are of the right kind.
    private(set) var hasWorked = false

    var isEmpty: Bool { held.isEmpty && unproven.isEmpty }
    /// The number of all messages refused because of their token.
    var allRefused: Int { refused + refusedUnproven }
    /// Whether so many were refused that the others would be, too.
    var isTripped: Bool { !hasWorked && refused >= Int(MassFailureGuard.window) }
    /// The same when no more answers come.
    var isTrippedWhenQuiet: Bool { !hasWorked && refused > MassFailureGuard.fewest }
    /// The same for a probe, which sends message by message.
    var isTrippedByProbe: Bool { !hasWorked && refused >= MassFailureGuard.probeLimit }
    /// Whether so many messages that do not count are held that the others of their parts would be refused, too.
    var hasManyUnproven: Bool { !hasWorked && unproven.count >= Int(MassFailureGuard.window) }
    /// The same for a probe.
    var hasManyUnprovenInProbe: Bool {
        !hasWorked && !unproven.isEmpty && held.count + unproven.count >= MassFailureGuard.probeLimit
    }
    /// Whether refusals that do not count are believed: a message got through, or they are few.
    var trustsUnprovenRefusals: Bool { hasWorked || refusedUnproven <= MassFailureGuard.fewest }

    /// Notes that a message got through.
    mutating func noteWorking() { hasWorked = true }

    /// Counts a refused message if it has weight, and holds it.
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

    /// Takes all held messages that do not count.
    mutating func takeAllUnproven() -> [MassFailureGuard.Held] {
        defer { unproven = [] }
        return unproven
    }

    /// Takes all held messages that count.
    mutating func takeAll() -> [MassFailureGuard.Held] {
        defer { held = [] }
        return held
    }

    /// Forgets a part's held messages: the part goes to another owner.
    mutating func drop(_ claim: PartToken) {
        held.removeAll { $0.claim == claim }
        unproven.removeAll { $0.claim == claim }
    }
}

/// Answers that doubt a push token, until it is clear whether the token or the application is at fault.
struct TokenGuards: Sendable {
    var application = MassFailureGuard()
    /// One guard for each delivery whose push type has its own topic.
    var topics: [Int64: TopicGuard] = [:]
}
