import PushCore

/// A delivery to create.
public struct NewDelivery: Sendable {
    /// Its name.
    public var label: String
    /// Names of the applications whose subscribers it goes to, each over its own account unless `accounts` says otherwise.
    public var applications: [String]
    /// Its content, JSON.
    public var content: String
    /// Whether its target is what stands in `pushmta.delivery_target` instead of all subscribers.
    public var explicitTargets: Bool
    /// Greater goes first; 0 is normal.
    public var priority: Int16
    /// Seconds from its start in which messages are sent.
    public var validitySeconds: Int64
    /// What happens to an ambiguous message.
    public var ambiguityPolicy: AmbiguityPolicy
    /// Whether a user gets it on the newest of their subscriptions only.
    public var onePerUser: Bool
    /// Soft failures are sent again at most so often, 0 to 1,000.
    public var maxRetries: Int32
    /// Seconds before the first retry, 1 to 31,536,000; doubles with each.
    public var retryPeriodSeconds: Int32
    /// Whether messages are added to it after its start; then its validity counts for each of them.
    public var isContinuous = false

    /// A delivery to all subscribers of the applications.
    public init(
        label: String,
        applications: [String],
        content: String,
        explicitTargets: Bool = false,
        priority: Int16 = 0,
        validitySeconds: Int64 = 432_000,
        ambiguityPolicy: AmbiguityPolicy = .resend,
        onePerUser: Bool = false,
        maxRetries: Int32 = 5,
        retryPeriodSeconds: Int32 = 60
    ) {
        self.label = label
        self.applications = applications
        self.content = content
        self.explicitTargets = explicitTargets
        self.priority = priority
        self.validitySeconds = validitySeconds
        self.ambiguityPolicy = ambiguityPolicy
        self.onePerUser = onePerUser
        self.maxRetries = maxRetries
        self.retryPeriodSeconds = retryPeriodSeconds
    }
}
