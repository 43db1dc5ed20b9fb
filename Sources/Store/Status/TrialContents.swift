/// What a trial puts into its database, so that what people have added can be told from it.
public struct TrialContents: Sendable, Hashable {
    /// The name of its service; its applications and accounts have names that begin with it and a hyphen.
    public let service: String
    /// The label of its one delivery.
    public let deliveryLabel: String
    /// What user keys of its devices begin with; a number follows.
    public let userKeyPrefix: String

    /// Describes a trial.
    public init(service: String, deliveryLabel: String, userKeyPrefix: String) {
        self.service = service
        self.deliveryLabel = deliveryLabel
        self.userKeyPrefix = userKeyPrefix
    }
}
