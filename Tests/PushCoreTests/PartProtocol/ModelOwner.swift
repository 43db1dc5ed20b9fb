@testable import PushCore

/// An MTA child in the model: what it knows, what it has under way, and the files that outlive it.
struct ModelOwner: Sendable, Hashable {
    var isRunning = true
    var hasJournal = true
    /// The part that it knows it holds; -1 when none.
    var part = -1
    var token = 0
    /// Whether it has read the known outcomes and may send.
    var isOpen = false
    /// Whether it has learned that it lost its part.
    var isFenced = false
    /// Whether it has to ask which part it holds.
    var mustReconnect = false
    /// Whether it will cancel what it has not sent.
    var cancelsRest = false

    /// Not sent.
    var pending = MessageSet.empty
    /// Under the committed mark.
    var marked = MessageSet.empty
    /// Journaled and not written.
    var intended = MessageSet.empty
    /// Written and not processed.
    var written = MessageSet.empty
    /// Answered by the gateway and not read.
    var answeredAccepted = MessageSet.empty
    var answeredFailed = MessageSet.empty
    var answeredSoft = MessageSet.empty
    var answeredStop = MessageSet.empty
    /// Refused in a way that a mix-up would explain as well: not decided, and not sent for the journal.
    var held = MessageSet.empty
    /// Not sent, or refused, and without an answer at an earlier time: they may have arrived.
    var ambiguousRows = MessageSet.empty
    /// Read, and not yet known to be stored.
    var accepted = MessageSet.empty
    var failed = MessageSet.empty
    var soft = MessageSet.empty
    var unknown = MessageSet.empty

    var store = ModelStore()
    var journal = ModelJournal()

    var answered: MessageSet { answeredAccepted | answeredFailed | answeredSoft | answeredStop }
    var inFlight: MessageSet { intended | written | answered | held }
    var unstored: MessageSet { accepted | failed | unknown }

    /// Forgets its part.
    mutating func drop() {
        part = -1
        isOpen = false
        isFenced = false
        cancelsRest = false
        pending = .empty
        marked = .empty
        intended = .empty
        written = .empty
        answeredAccepted = .empty
        answeredFailed = .empty
        answeredSoft = .empty
        answeredStop = .empty
        held = .empty
        ambiguousRows = .empty
        accepted = .empty
        failed = .empty
        soft = .empty
        unknown = .empty
        journal = ModelJournal()
    }
}

/// A child's journal in the model: what is in the file for the part that it holds.
struct ModelJournal: Sendable, Hashable {
    var part = -1
    var token = 0
    var intended = MessageSet.empty
    var accepted = MessageSet.empty
    var failed = MessageSet.empty
    var soft = MessageSet.empty
    /// Sent without an answer once, whatever came of them later: they may have arrived.
    var ambiguousRows = MessageSet.empty

    /// Intents without an answer.
    var unanswered: MessageSet { intended - accepted - failed - soft }

    /// What may have arrived and has no final answer.
    var ambiguous: MessageSet { (unanswered | ambiguousRows) - accepted - failed }

    mutating func cut(_ messages: MessageSet) {
        intended -= messages
        accepted -= messages
        failed -= messages
        ambiguousRows -= messages
    }
}

/// A store transaction of an owner in the model.
struct ModelStore: Sendable, Hashable {
    enum Phase: Sendable, Hashable {
        case none
        /// It is on its way to the database.
        case sent
        /// It is committed, and its reply is on its way.
        case executed
    }

    var phase = Phase.none
    var part = -1
    var token = 0
    /// Facts.
    var accepted = MessageSet.empty
    var failed = MessageSet.empty
    /// Decisions: outcomes that no gateway gave, the part's end, what goes to its retry part, what is canceled with it.
    var unknown = MessageSet.empty
    var soft = MessageSet.empty
    var ambiguousRows = MessageSet.empty
    var closes = false
    var cancelsRest = false
    /// The reply: the part had another owner.
    var isFenced = false

    var outcomes: MessageSet { accepted | failed | unknown }
}

/// A row of `delivery_part` in the model.
struct ModelPart: Sendable, Hashable {
    enum State: Sendable, Hashable {
        case ready
        case claimed
        case done
    }

    /// The frozen target.
    let messages: MessageSet
    let attempt: Int
    var state = State.ready
    var token = 0
    var owner = -1
    var renewal = 0
    /// The dispatch mark: the messages that may have been sent.
    var marked = MessageSet.empty
    /// What those who released the part noted for its next owners: may have been sent, and was refused for now.
    var ambiguous = MessageSet.empty
    var soft = MessageSet.empty
    /// What a sweep saw; -1 when it has not looked.
    var observedToken = -1
    var observedRenewal = -1

    init(messages: MessageSet, attempt: Int, ambiguous: MessageSet = .empty) {
        self.messages = messages
        self.attempt = attempt
        self.ambiguous = ambiguous
    }
}

/// A set of the model's messages: bit i stands for message i of at most 64.
struct MessageSet: Sendable, Hashable {
    /// The bits.
    var bits: UInt64

    /// The most messages that a set can hold.
    static let capacity = 64
    /// The empty set.
    static let empty = MessageSet(bits: 0)

    /// Makes a set of its bits.
    init(bits: UInt64) {
        self.bits = bits
    }

    /// The set of the first messages, at most 64.
    static func first(_ count: Int) -> MessageSet {
        MessageSet(bits: count >= capacity ? .max : (1 << UInt64(max(count, 0))) - 1)
    }

    /// Whether the set has no messages.
    var isEmpty: Bool { bits == 0 }
    /// The number of messages.
    var count: Int { bits.nonzeroBitCount }

    /// Whether all messages of this set are in the other.
    func isSubset(of other: MessageSet) -> Bool { bits & ~other.bits == 0 }

    /// The messages of both sets together.
    static func | (left: MessageSet, right: MessageSet) -> MessageSet {
        MessageSet(bits: left.bits | right.bits)
    }
    /// The messages that are in both sets.
    static func & (left: MessageSet, right: MessageSet) -> MessageSet {
        MessageSet(bits: left.bits & right.bits)
    }
    /// The messages of the left set that are not in the right one.
    static func - (left: MessageSet, right: MessageSet) -> MessageSet {
        MessageSet(bits: left.bits & ~right.bits)
    }
    /// Adds the right set's messages.
    static func |= (left: inout MessageSet, right: MessageSet) { left.bits |= right.bits }
    /// Removes the right set's messages.
    static func -= (left: inout MessageSet, right: MessageSet) { left.bits &= ~right.bits }

    /// This set's messages up to its `count`-th in sequence order.
    func lowest(_ count: Int) -> MessageSet {
        var rest = bits
        for _ in 0..<max(count, 0) where rest != 0 { rest &= rest - 1 }
        return MessageSet(bits: bits & ~rest)
    }

    /// All numbers up to and including the highest message of this set.
    var prefix: MessageSet {
        bits == 0 ? .empty : .first(Self.capacity - bits.leadingZeroBitCount)
    }
}

extension MessageSet: CustomStringConvertible {
    /// The numbers of the messages.
    var description: String {
        "{" + (0..<Self.capacity).filter { bits >> UInt64($0) & 1 == 1 }.map(String.init).joined(separator: " ") + "}"
    }
}

/// Counts something for each message, up to three times.
struct MessageTally: Sendable, Hashable {
    /// The messages counted at least once.
    private(set) var once = MessageSet.empty
    /// The messages counted at least twice.
    private(set) var twice = MessageSet.empty
    /// The messages counted at least three times.
    private(set) var thrice = MessageSet.empty

    mutating func add(_ messages: MessageSet) {
        thrice |= twice & messages
        twice |= once & messages
        once |= messages
    }
}
