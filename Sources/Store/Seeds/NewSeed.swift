/// A seed address to add.
public struct NewSeed: Sendable {
    /// What names its subscription.
    public enum Address: Sendable, Hashable {
        /// A subscription by its id.
        case subscription(Int64)
        /// The newest subscription of a user in the application.
        case userKey(String)
        /// A push token of the application; it need not be a subscriber's.
        case pushToken(String)
    }

    /// Its name in commands and SQL: no number and without a comma.
    public var name: String
    /// Whose it is, for people.
    public var label: String
    /// Name of its application; a subscription's id needs none.
    public var application: String?
    /// What names its subscription.
    public var address: Address
    /// The values that its messages take for their fields, a JSON object; nil for those of the subscription.
    public var variables: String?
    /// The language of a token that is no subscriber's, a tag.
    public var locale: String

    /// A seed address.
    public init(
        name: String,
        label: String = "",
        application: String? = nil,
        address: Address,
        variables: String? = nil,
        locale: String = ""
    ) {
        self.name = name
        self.label = label
        self.application = application
        self.address = address
        self.variables = variables
        self.locale = locale
    }
}
