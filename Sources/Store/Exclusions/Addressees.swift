/// People by what names them: for exclusions and explicit targets.
public struct Addressees: Sendable, Hashable {
    /// Users, with all their subscriptions.
    public var userKeys: [String]
    /// Subscriptions by their id.
    public var subscriptionIDs: [Int64]
    /// Push tokens.
    public var pushTokens: [String]

    /// Some people, or nobody.
    public init(userKeys: [String] = [], subscriptionIDs: [Int64] = [], pushTokens: [String] = []) {
        self.userKeys = userKeys
        self.subscriptionIDs = subscriptionIDs
        self.pushTokens = pushTokens
    }

    /// Whether it names nobody.
    public var isEmpty: Bool { userKeys.isEmpty && subscriptionIDs.isEmpty && pushTokens.isEmpty }

    /// How many names it has.
    public var count: Int { userKeys.count + subscriptionIDs.count + pushTokens.count }
}
