/// People, by user key, subscription or push token: for exclusions and explicit targets.
package struct Addressees: Sendable, Hashable {
    /// Users, with all their subscriptions.
    package var userKeys: [String]
    package var subscriptionIDs: [Int64]
    package var pushTokens: [String]

    package init(userKeys: [String] = [], subscriptionIDs: [Int64] = [], pushTokens: [String] = []) {
        self.userKeys = userKeys
        self.subscriptionIDs = subscriptionIDs
        self.pushTokens = pushTokens
    }

    package init(_ addressees: [Addressee]) {
        self.init(
            userKeys: addressees.compactMap(\.userKey),
            subscriptionIDs: addressees.compactMap(\.subscriptionID),
            pushTokens: addressees.compactMap(\.pushToken)
        )
    }

    package var isEmpty: Bool { userKeys.isEmpty && subscriptionIDs.isEmpty && pushTokens.isEmpty }

    /// The number of people.
    package var count: Int { userKeys.count + subscriptionIDs.count + pushTokens.count }
}
