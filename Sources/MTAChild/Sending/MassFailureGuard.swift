import PushCore
import Store

/// Keeps a mix-up of environments or bundle ids from failing messages and disabling tokens.
///
/// A gateway refuses every token of the other environment as bad. So an answer that doubts a token is *doubtful* and its
/// message stays undecided until enough later answers show that such answers are rare; if they are not, the whole
/// application is wrong, and no message is to blame.
///
/// What counts is their share of the last answers. Undecided messages wait for free, so it is judged when the window is full,
/// or when no more answers come. The answers are this child's: a later one begins anew, and its siblings count for themselves, so
/// that of single messages each child may decide ``fewest`` before it knows better.
struct MassFailureGuard: Sendable {
    /// A doubtful answer whose message is not decided.
    struct Held: Sendable {
        let holding: PartToken
        let row: Int32
        let outcome: Outcome
        /// How many answers there were when it came, this one included.
        fileprivate let position: Int64

        init(holding: PartToken, row: Int32, outcome: Outcome, position: Int64 = 0) {
            self.holding = holding
            self.row = row
            self.outcome = outcome
            self.position = position
        }
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

    private var answers: Int64 = 0
    /// The positions of the doubtful answers in the window, oldest first.
    private var doubtful: ArraySlice<Int64> = []
    /// What is held, oldest first; all of it is in the window.
    private var held: ArraySlice<Held> = []

    /// Whether nothing is held.
    var isEmpty: Bool { held.isEmpty }
    /// The messages that are held.
    var heldCount: Int { held.count }
    /// The doubtful answers in the window.
    var doubtfulCount: Int { doubtful.count }
    /// The answers that are looked at now.
    var answersInWindow: Int64 { min(answers, Self.window) }
    /// Whether the answers say that all tokens are wrong, whatever may come yet. It stays so: many answers may come at once, and
    /// those that doubt nothing come last.
    private(set) var isTripped = false
    /// The same when no more answers come.
    var isTrippedWhenQuiet: Bool {
        isTripped || doubtful.count > Self.fewest && Int64(doubtful.count) * Self.share > answersInWindow
    }
    /// The same for a probe.
    var isTrippedByProbe: Bool { doubtful.count >= Self.probeLimit }

    /// Counts an answer that doubts nothing.
    mutating func count() {
        answers += 1
        guard let oldest = doubtful.first, oldest <= answers - Self.window else { return }
        doubtful.removeFirst()
    }

    /// Counts a doubtful answer and holds its message.
    mutating func hold(_ holding: PartToken, row: Int32, _ outcome: Outcome) {
        count()
        doubtful.append(answers)
        if doubtful.count > Self.limit { isTripped = true }
        held.append(Held(holding: holding, row: row, outcome: outcome, position: answers))
    }

    /// Takes what has left the window: these answers were right.
    mutating func takeOld() -> [Held] {
        guard let oldest = held.first, oldest.position <= answers - Self.window else { return [] }
        let count = held.prefix { $0.position <= answers - Self.window }.count
        defer { held.removeFirst(count) }
        return Array(held.prefix(count))
    }

    /// Takes all that is held.
    mutating func takeAll() -> [Held] {
        defer { held = [] }
        return Array(held)
    }

    /// Forgets what is held of a part: it goes to another owner.
    /// - Returns: how many messages.
    @discardableResult
    mutating func drop(_ holding: PartToken) -> Int {
        guard held.contains(where: { $0.holding == holding }) else { return 0 }
        let before = held.count
        held = held.filter { $0.holding != holding }[...]
        return before - held.count
    }
}
