/// Who gets a proof: nobody when all three are empty.
public struct ProofAddresses: Sendable, Hashable {
    /// Names of seed addresses.
    public var seeds: [String]
    /// Subscriptions.
    public var subscriptionIDs: [Int64]
    /// Push tokens of subscriptions.
    public var pushTokens: [String]

    /// Some addresses.
    public init(seeds: [String] = [], subscriptionIDs: [Int64] = [], pushTokens: [String] = []) {
        self.seeds = seeds
        self.subscriptionIDs = subscriptionIDs
        self.pushTokens = pushTokens
    }
}
