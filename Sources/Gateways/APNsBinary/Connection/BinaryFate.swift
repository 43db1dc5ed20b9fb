/// What became of a message.
enum BinaryFate: Sendable, Hashable {
    /// The gateway named a later one, so this one was taken; or it named this one as the last that was.
    case taken
    /// Nothing was heard of it for so long that it counts as taken.
    case presumedTaken
    /// The gateway refused it with that status.
    case refused(UInt8)
    /// The gateway threw it away unseen because of an earlier one.
    ///
    /// `isFree`: the packet decided about another message, so that sending again cannot go on for ever.
    case discarded(isFree: Bool)
    /// The connection ended without a word, and it may have been taken.
    case inDoubt(BinaryDoubt)
}

extension BinaryFate {
    /// Whether the gateway has judged the message, so that the connection serves.
    var provesConnection: Bool {
        switch self {
        case .taken, .presumedTaken, .refused: true
        case .discarded, .inDoubt: false
        }
    }
}
