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
    var doubted = MessageSet.empty
    var closes = false
    var cancelsRest = false
    /// The reply: the part had another owner.
    var isFenced = false

    var outcomes: MessageSet { accepted | failed | unknown }
}
