/// What a piece of work came to.
struct FeedbackRound: Sendable, Equatable {
    /// How many things were done.
    var count: Int64
    /// There may be more to do at once.
    var isMore: Bool

    static let idle = FeedbackRound(count: 0, isMore: false)
}
