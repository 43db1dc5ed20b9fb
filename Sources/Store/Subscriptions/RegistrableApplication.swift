import Content
import PushCore

/// What a registration needs to know about an application.
package struct RegistrableApplication: Sendable {
    package let id: Int32
    package let name: String
    package let platform: Platform
    /// The key with which devices register.
    package let integrationKey: String
    /// Where the parameters of a registration are stored. Declarations of another version of the program may be
    /// unreadable here. Then the application's devices cannot be registered, because the columns of their values are
    /// unknown.
    package let declarations: Result<ApplicationDeclarations, DeclarationError>
}
