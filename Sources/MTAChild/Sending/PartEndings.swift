import Store

/// Parts that end before all their messages are sent.
struct PartEndings: Sendable {
    /// Why parts may end early.
    enum Cause: Sendable, Hashable, CaseIterable {
        /// The part has expired.
        case expired
        /// The part's sending hours have ended: it goes back.
        case closed
        /// The part goes back although its delivery continues.
        case refused
        /// A rate limit holds the part, and this child drains.
        case left
    }

    /// Parts that go back and that the database may not have yet: only the journal has what is known about their
    /// messages.
    private(set) var releasing: Set<PartToken> = []
    /// When the first held delivery or part expires, or its sending hours end, in milliseconds on the database's clock.
    private(set) var nextExpiry = Int64.max
    /// The causes for which held parts may have to end.
    private(set) var causes: Set<Cause> = []
    /// Deliveries whose messages were recalled from the gateway a second time.
    private var askedAgain: Set<Int64> = []

    mutating func release(_ claim: PartToken) { releasing.insert(claim) }

    mutating func wasReleased(_ claim: PartToken) { releasing.remove(claim) }

    /// Notes when a held delivery or part expires, or its sending hours end.
    mutating func expires(at end: Int64) { nextExpiry = min(nextExpiry, end) }

    /// Resets the next expiry, before all held parts are checked for it.
    mutating func forgetExpiry() { nextExpiry = .max }

    mutating func add(_ cause: Cause) { causes.insert(cause) }

    mutating func remove(_ cause: Cause) { causes.remove(cause) }

    /// Notes deliveries that still have messages in the gateway.
    /// - Returns: whether one of them was not recalled a second time yet.
    mutating func askAgain(_ late: Set<Int64>) -> Bool {
        defer { askedAgain = late }
        return !late.isSubset(of: askedAgain)
    }
}
