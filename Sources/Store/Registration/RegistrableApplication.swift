import PushCore

/// What a registration needs to know of an application.
public struct RegistrableApplication: Sendable {
    /// Its id.
    public let id: Int32
    /// Its name.
    public let name: String
    /// Its platform.
    public let platform: Platform
    /// What devices name it by.
    public let integrationKey: String
    /// Where the parameters of a registration go; what another version of the program wrote may not be readable here, and then its
    /// devices cannot be registered: nobody could say what belongs into which column.
    public let declarations: Result<ApplicationDeclarations, DeclarationError>

    /// An application.
    public init(
        id: Int32,
        name: String,
        platform: Platform,
        integrationKey: String,
        declarations: Result<ApplicationDeclarations, DeclarationError>
    ) {
        self.id = id
        self.name = name
        self.platform = platform
        self.integrationKey = integrationKey
        self.declarations = declarations
    }
}
