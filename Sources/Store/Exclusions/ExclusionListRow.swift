/// A named list of people who get nothing of the deliveries that use it.
public struct ExclusionListRow: Sendable, Hashable {
    /// Its name, unique.
    public let name: String
    /// Its name for people.
    public let label: String
    /// Users on it.
    public let userKeys: Int64
    /// Subscriptions on it.
    public let subscriptions: Int64
    /// Push tokens on it.
    public let pushTokens: Int64

    /// A list.
    public init(name: String, label: String, userKeys: Int64, subscriptions: Int64, pushTokens: Int64) {
        self.name = name
        self.label = label
        self.userKeys = userKeys
        self.subscriptions = subscriptions
        self.pushTokens = pushTokens
    }
}
