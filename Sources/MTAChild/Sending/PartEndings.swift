import Store

/// Parts that end before all of their messages were sent.
struct PartEndings: Sendable {
    /// Why parts may be on their way to such an end.
    enum Cause: Sendable, Hashable, CaseIterable {
        /// Its time is over.
        case expired
        /// It goes back although its delivery goes on.
        case refused
        /// A limit holds it, and this child leaves.
        case left
    }

    /// Parts that go back and that the database may not have yet: what is known of their messages stands in the journal only.
    private(set) var releasing: Set<PartToken> = []
    /// When the first of the held deliveries or parts expires, in milliseconds on the database's clock.
    private(set) var nextExpiry = Int64.max
    /// Why there may be parts that are to end.
    private(set) var causes: Set<Cause> = []
    /// Deliveries whose messages were asked back from the gateway a second time.
    private var askedAgain: Set<Int64> = []

    mutating func release(_ claim: PartToken) { releasing.insert(claim) }

    mutating func wasReleased(_ claim: PartToken) { releasing.remove(claim) }

    /// A held delivery or part expires then.
    mutating func expires(at end: Int64) { nextExpiry = min(nextExpiry, end) }

    /// All that is held is looked through for what expires next.
    mutating func forgetExpiry() { nextExpiry = .max }

    mutating func add(_ cause: Cause) { causes.insert(cause) }

    mutating func remove(_ cause: Cause) { causes.remove(cause) }

    /// Messages of these deliveries are still in the gateway.
    /// - Returns: whether one of them was not asked back a second time.
    mutating func askAgain(_ late: Set<Int64>) -> Bool {
        defer { askedAgain = late }
        return !late.isSubset(of: askedAgain)
    }
}
