import Gateways

/// What the gateway has said in words of messages that it refuses for good: each is told once.
struct RefusalTexts: Sendable {
    /// Texts of a delivery: the database keeps no more of them.
    private static let maxTexts = 20
    /// Deliveries whose texts are remembered; what is forgotten is told again.
    private static let maxDeliveries = 1_000

    private var known: [Int64: Set<RefusalText>] = [:]

    /// Those that were not told yet; they count as told.
    mutating func news(_ texts: Set<RefusalText>) -> [RefusalText] {
        if known.count >= Self.maxDeliveries { known.removeAll() }
        return texts.filter { text in
            known[text.deliveryID, default: []].count < Self.maxTexts
                && known[text.deliveryID, default: []].insert(text).inserted
        }
    }
}
