import Hummingbird
import Logging
import PostgresClient
import PushCore

/// What a web process is made from.
public struct WebSetup: Sendable {
    /// The settings of all processes.
    public var settings: Settings
    /// How it connects to the database: a connection each for registrations, tracking and reading.
    public var database: PostgresConfiguration
    /// This host's name.
    public var hostName: String
    /// The program's version.
    public var version: String
    /// Its log.
    public var logger: Logger
    /// Reads the keys that secrets of proofs of user keys are sealed with.
    public var keyring: @Sendable () throws -> CredentialKeyring
    /// Adds routes below `/api/`.
    public var addRoutes: @Sendable (Router<WebContext>) -> Void

    /// Describes a web process.
    public init(
        settings: Settings,
        database: PostgresConfiguration,
        hostName: String,
        version: String,
        logger: Logger,
        keyring: @escaping @Sendable () throws -> CredentialKeyring,
        addRoutes: @escaping @Sendable (Router<WebContext>) -> Void = { _ in }
    ) {
        self.settings = settings
        self.database = database
        self.hostName = hostName
        self.version = version
        self.logger = logger
        self.keyring = keyring
        self.addRoutes = addRoutes
    }
}
