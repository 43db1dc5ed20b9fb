import PushCore

/// What the owner of an API key may do.
package struct VerifiedAPIKey: Sendable, Hashable {
    package let id: Int32
    /// Its owner.
    package let name: String
    /// What it may be used for.
    package let scopes: Set<APIScope>
    /// The applications that it is valid for; nil: all.
    package let applicationIDs: Set<Int32>?
    /// Why it is not accepted: `revoked` or `expired`; "" if it is.
    package let problem: String

    /// Whether it is valid for an application.
    package func allows(application id: Int32) -> Bool {
        applicationIDs?.contains(id) ?? true
    }
}
