import PushCore

/// Ready parts for children of one kind.
struct ReadyWorkOffer: Sendable, Equatable {
    var kind: ChildKind
    /// Parts that are due and not claimed.
    var readyParts: Int
    /// The highest priority among them; a larger number is more urgent.
    var priority: Int
    /// Messages in those parts.
    var messages: Int64 = 0

    /// A fast child sends this many within a tenth of a second; otherwise it waits for the network.
    static let smallMessages: Int64 = 2_000

    /// Whether this is enough work to keep a core busy.
    var isLarge: Bool { readyParts > SupervisorPlan.readyPartsPerChild || messages > Self.smallMessages }
}
