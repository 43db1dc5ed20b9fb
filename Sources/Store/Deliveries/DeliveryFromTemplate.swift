import PushCore

/// A delivery to create from a template; nil uses the template's value.
package struct DeliveryFromTemplate: Sendable {
    package var template: String
    /// The delivery's name.
    package var label: String
    /// Names of the applications whose subscribers it goes to; empty: those of the template.
    package var applications: [String]
    /// Selects the subscribers; "" for all.
    package var filter: String?
    package var excludedLists: [String]?
    /// Merged into the template's content, JSON: objects are merged, null removes a key (RFC 7396).
    package var content: String?
    /// Whether its target is the rows of `pushmta.delivery_target`.
    package var explicitTargets: Bool?
    /// The greater goes first.
    package var priority: Int16?
    /// Seconds from its start during which messages are sent.
    package var validitySeconds: Int64?
    /// What happens to an ambiguous message.
    package var ambiguityPolicy: AmbiguityPolicy?
    /// Whether a user gets it on one subscription only.
    package var onePerUser: Bool?
    /// The maximum number of retries after soft failures.
    package var maxRetries: Int32?
    /// Seconds before the first retry.
    package var retryPeriodSeconds: Int32?
    /// How its attempts are spread over time.
    package var retrySchedule: RetryPolicy.ScheduleSetting?
    /// The maximum messages a second.
    package var messagesPerSecond: Double?
    /// Whether messages are added after its start.
    package var isContinuous = false
    /// Whether it carries a code that a person asked for, so that it also goes to those who opted out.
    package var isOneTimeCode = false
    /// The name of its category.
    package var category: String?

    /// A delivery with the values of its template.
    package init(template: String, label: String, applications: [String] = [], content: String? = nil) {
        self.template = template
        self.label = label
        self.applications = applications
        self.content = content
    }
}
