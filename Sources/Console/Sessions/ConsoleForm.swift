/// The field names of forms.
enum ConsoleForm {
    static let token = "token"
    /// Name and password of the sign-in form, and the path to continue to.
    static let user = "user"
    static let password = "password"
    static let next = "next"
    /// The new password, entered twice.
    static let newPassword = "new"
    static let again = "again"
    /// The chosen language.
    static let language = "language"
}
