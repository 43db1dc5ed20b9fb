import PushCore

/// A drill's delivery.
struct DrillDelivery: Sendable, Equatable {
    let id: Int64
    /// What becomes of its ambiguous messages.
    let policy: AmbiguityPolicy
    /// The number of messages that its audience gets. Of a campaign, the number of subscriptions in its audience.
    let messages: Int64
    /// The statuses in which its messages may end, in addition to sent, and unknown under policy `report`. Any other
    /// status is wrong unless the drill lists it here.
    var allows: Set<MessageStatus> = []
    /// What makes it a campaign; nil for a plain delivery.
    var campaign: CampaignKind?
}
