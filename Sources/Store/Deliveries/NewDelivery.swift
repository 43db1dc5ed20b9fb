import PushCore

package struct NewDelivery: Sendable {
    package var label: String
    /// Names of the applications whose subscribers it goes to, each over its own account unless `accounts` says
    /// otherwise.
    package var applications: [String]
    /// Its content, JSON.
    package var content: String
    /// Whether its target is the rows of `pushmta.delivery_target` instead of all subscribers.
    package var explicitTargets: Bool
    /// The greater goes first; 0 is normal.
    package var priority: Int16
    /// Seconds from its start during which messages are sent.
    package var validitySeconds: Int64
    /// What happens to an ambiguous message.
    package var ambiguityPolicy: AmbiguityPolicy
    /// Whether a user gets it only on the newest of their subscriptions.
    package var onePerUser: Bool
    /// The maximum number of retries after soft failures.
    package var maxRetries: Int32
    /// Seconds before the first retry; nil for the schedule's own.
    package var retryPeriodSeconds: Int32?
    /// How its attempts are spread over time.
    package var retrySchedule: RetryPolicy.ScheduleSetting
    /// The maximum messages a second; nil for no limit.
    package var messagesPerSecond: Double?
    /// Whether messages are added after its start; its validity then applies to each of them.
    package var isContinuous = false
    /// Whether it carries a code that a person asked for, so that it also goes to those who opted out.
    package var isOneTimeCode = false
    /// The name of its category; nil for the marketing of its service.
    package var category: String?

    /// A delivery to all subscribers of the applications.
    package init(
        label: String,
        applications: [String],
        content: String,
        explicitTargets: Bool = false,
        priority: Int16 = DeliverySetting.defaultPriority,
        validitySeconds: Int64 = DeliverySetting.defaultValiditySeconds,
        ambiguityPolicy: AmbiguityPolicy = DeliverySetting.defaultAmbiguityPolicy,
        onePerUser: Bool = false,
        maxRetries: Int32 = DeliverySetting.defaultMaxRetries,
        retryPeriodSeconds: Int32? = nil,
        retrySchedule: RetryPolicy.ScheduleSetting = .byKind
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
        self.retrySchedule = retrySchedule
    }
}
