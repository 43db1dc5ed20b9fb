/// Parts that are ready to be claimed by children of one kind.
struct WorkOnOffer: Sendable, Equatable {
    var kind: ChildKind
    /// Parts whose time has come and that nobody has claimed.
    var readyParts: Int
    /// The highest priority among them; larger is more urgent.
    var priority: Int
}
