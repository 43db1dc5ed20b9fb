/// One message of a delivery with explicit targets, and whom it goes to.
public struct ExplicitTarget: Sendable, Hashable {
    /// Whom it goes to, by exactly one of these.
    public enum Addressee: Sendable, Hashable {
        /// A user, on all their subscriptions.
        case user(String)
        case subscription(Int64)
        case pushToken(String)
    }

    /// Whom it goes to.
    public let addressee: Addressee
    /// Values for the fields of the content, a JSON object; nil if it has none of its own.
    public let variables: String?

    /// A target.
    public init(_ addressee: Addressee, variables: String? = nil) {
        self.addressee = addressee
        self.variables = variables
    }

    var userKey: String? { if case .user(let key) = addressee { key } else { nil } }
    var subscriptionID: Int64? { if case .subscription(let id) = addressee { id } else { nil } }
    var pushToken: String? { if case .pushToken(let token) = addressee { token } else { nil } }
}
