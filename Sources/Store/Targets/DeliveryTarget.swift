/// Whom of the subscribers of its applications a delivery goes to; nil leaves what the delivery has.
public struct DeliveryTarget: Sendable, Hashable {
    /// Who is chosen, in the language of `TargetFilter`; an empty text is everybody.
    public var filter: String?
    /// Names of the exclusion lists whose people get nothing.
    public var excludedLists: [String]?
    /// Whether a push token, or a row of explicit targets, that is there twice gets two messages.
    public var allowsDuplicates: Bool?

    /// A target.
    public init(filter: String? = nil, excludedLists: [String]? = nil, allowsDuplicates: Bool? = nil) {
        self.filter = filter
        self.excludedLists = excludedLists
        self.allowsDuplicates = allowsDuplicates
    }

    /// Whether it leaves everything.
    public var isEmpty: Bool { filter == nil && excludedLists == nil && allowsDuplicates == nil }
}
