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
