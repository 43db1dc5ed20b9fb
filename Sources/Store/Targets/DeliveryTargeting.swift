/// Whom a delivery goes to, as it is set.
public struct DeliveryTargeting: Sendable, Hashable {
    /// Whether it goes to the rows of `pushmta.delivery_target`.
    public let isExplicit: Bool
    /// Who of the subscribers is chosen; nil: everybody.
    public let filter: String?
    /// Whether a condition in SQL chooses too.
    public let hasRawSQL: Bool
    /// Names of its exclusion lists.
    public let excludedLists: [String]

    /// A delivery's target.
    public init(isExplicit: Bool, filter: String?, hasRawSQL: Bool, excludedLists: [String]) {
        self.isExplicit = isExplicit
        self.filter = filter
        self.hasRawSQL = hasRawSQL
        self.excludedLists = excludedLists
    }
}
