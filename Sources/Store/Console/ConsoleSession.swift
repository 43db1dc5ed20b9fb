/// A session with its user, as the database knows it at this moment.
package struct ConsoleSession: Sendable, Hashable {
    package let user: String
    /// What the user may do.
    package let role: ConsoleRole
    /// The token that each form of the session carries.
    package let formToken: String
    /// Whether the user has a one-time password, and must choose a new one first.
    package let mustChoosePassword: Bool

    package init(user: String, role: ConsoleRole, formToken: String, mustChoosePassword: Bool = false) {
        self.user = user
        self.role = role
        self.formToken = formToken
        self.mustChoosePassword = mustChoosePassword
    }
}
