import PushCore

/// A seed address: who gets proofs of deliveries; the token is for the operator who asked, not for logs.
public struct SeedRow: Sendable, Hashable {
    /// Its name in commands and SQL, unique.
    public let name: String
    /// Whose it is, for people.
    public let label: String
    /// Name of its application.
    public let application: String
    /// The platform of its application.
    public let platform: Platform
    /// Its subscription.
    public let subscriptionID: Int64
    /// The token that the gateway knows.
    public let pushToken: String
    /// The language of its messages, a tag; "" if unknown.
    public let locale: String
    /// The values that its messages take for their fields, a JSON object.
    public let variables: String
    /// Whether its subscription is no subscriber's: deliveries leave it out, only proofs go to it.
    public let isSeedOnly: Bool
    /// Why it cannot get anything, "" if it can: `disabled`, `opted_out` or `quarantine`.
    public let problem: String

    /// A seed address.
    public init(
        name: String,
        label: String,
        application: String,
        platform: Platform,
        subscriptionID: Int64,
        pushToken: String,
        locale: String,
        variables: String,
        isSeedOnly: Bool,
        problem: String
    ) {
        self.name = name
        self.label = label
        self.application = application
        self.platform = platform
        self.subscriptionID = subscriptionID
        self.pushToken = pushToken
        self.locale = locale
        self.variables = variables
        self.isSeedOnly = isSeedOnly
        self.problem = problem
    }
}
