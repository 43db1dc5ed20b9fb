/// A draft: a delivery that a user writes in the console. It need not be valid yet.
package struct ConsoleDraft: Sendable, Hashable {
    package let id: Int64
    /// The user who created it.
    package let owner: String
    /// The delivery's name.
    package var label: String
    /// Names of the applications that it goes to.
    package var applications: [String]
    /// The form's input, by field name.
    package var fields: [String: String]
    /// Increases with each change.
    package let version: Int32
    /// The delivery that was created for its proofs.
    package let deliveryID: Int64?
    /// When it was last changed.
    package let changedAt: DatabaseTime
}
