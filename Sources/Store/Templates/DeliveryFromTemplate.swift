import PushCore

/// A delivery to create from a template; nil leaves what the template says.
public struct DeliveryFromTemplate: Sendable {
    /// The template's name.
    public var template: String
    /// The delivery's name.
    public var label: String
    /// Names of the applications whose subscribers it goes to.
    public var applications: [String]
    /// What takes the place of the template's content, JSON: objects are merged, null takes a key away (RFC 7396).
    public var content: String?
    /// Whether its target is what stands in `pushmta.delivery_target`.
    public var explicitTargets: Bool?
    /// Greater goes first.
    public var priority: Int16?
    /// Seconds from its start in which messages are sent.
    public var validitySeconds: Int64?
    /// What happens to an ambiguous message.
    public var ambiguityPolicy: AmbiguityPolicy?
    /// Whether a user gets it on one subscription only.
    public var onePerUser: Bool?
    /// Soft failures are sent again at most so often.
    public var maxRetries: Int32?
    /// Seconds before the first retry.
    public var retryPeriodSeconds: Int32?
    /// Whether messages are added to it after its start.
    public var isContinuous = false

    /// A delivery as its template has it.
    public init(template: String, label: String, applications: [String], content: String? = nil) {
        self.template = template
        self.label = label
        self.applications = applications
        self.content = content
    }
}
