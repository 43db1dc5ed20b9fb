import PushCore

/// What the owner of a key of the API may do.
public struct VerifiedAPIKey: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Whose it is.
    public let name: String
    /// What it may be used for.
    public let scopes: Set<APIScope>
    /// The applications that it is for; nil: all.
    public let applicationIDs: Set<Int32>?
    /// Why it is not accepted: `revoked` or `expired`; "" if it is.
    public let problem: String

    /// Whether it is for an application.
    public func allows(application id: Int32) -> Bool {
        applicationIDs?.contains(id) ?? true
    }
}
