/// An explicit target: one message of a delivery, and its addressee. A user gets it on all of their subscriptions.
package struct ExplicitTarget: Sendable, Hashable {
    package let addressee: Addressee
    /// Values for the fields of the content, a JSON object; nil for none.
    package let variables: String?

    package init(_ addressee: Addressee, variables: String? = nil) {
        self.addressee = addressee
        self.variables = variables
    }
}
