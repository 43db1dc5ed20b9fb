/// The target of a delivery.
package struct DeliveryTargeting: Sendable, Hashable {
    /// Whether it goes to the rows of `pushmta.delivery_target`.
    package let isExplicit: Bool
    /// The filter; nil selects everyone.
    package let filter: String?
    /// Whether there is also a condition in SQL.
    package let hasRawSQL: Bool
    /// The names of its exclusion lists.
    package let excludedLists: [String]
    /// The names of the seed addresses that also get it; nil means all of its applications.
    package let seeds: [String]?
    /// The saved audience that the filter was copied from; "" for none.
    package let audience: String

    package init(
        isExplicit: Bool,
        filter: String?,
        hasRawSQL: Bool,
        excludedLists: [String],
        seeds: [String]? = [],
        audience: String = ""
    ) {
        self.seeds = seeds
        self.audience = audience
        self.isExplicit = isExplicit
        self.filter = filter
        self.hasRawSQL = hasRawSQL
        self.excludedLists = excludedLists
    }
}
