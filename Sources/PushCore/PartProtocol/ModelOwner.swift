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
    var doubted = MessageSet.empty
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
        doubted = .empty
        accepted = .empty
        failed = .empty
        soft = .empty
        unknown = .empty
        journal = ModelJournal()
    }
}
