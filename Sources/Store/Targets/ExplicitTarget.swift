/// An explicit target: one message of a delivery, and its addressee.
package struct ExplicitTarget: Sendable, Hashable {
    /// The addressee.
    package enum Addressee: Sendable, Hashable {
        /// A user, with all their subscriptions.
        case user(String)
        case subscription(Int64)
        case pushToken(String)
    }

    package let addressee: Addressee
    /// Values for the fields of the content, a JSON object; nil for none.
    package let variables: String?

    package init(_ addressee: Addressee, variables: String? = nil) {
        self.addressee = addressee
        self.variables = variables
    }

    var userKey: String? { if case .user(let key) = addressee { key } else { nil } }
    var subscriptionID: Int64? { if case .subscription(let id) = addressee { id } else { nil } }
    var pushToken: String? { if case .pushToken(let token) = addressee { token } else { nil } }
}
