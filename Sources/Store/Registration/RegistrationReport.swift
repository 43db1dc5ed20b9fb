/// What a transaction of registrations did.
public struct RegistrationReport: Sendable, Hashable {
    /// Subscriptions that are new.
    public var created: Int
    /// Subscriptions that existed, enabled or not, and are up to date now.
    public var updated: Int
    /// Subscriptions whose token went to another user, or whose device has another token.
    public var disabled: Int

    /// A report.
    public init(created: Int, updated: Int, disabled: Int) {
        self.created = created
        self.updated = updated
        self.disabled = disabled
    }
}
