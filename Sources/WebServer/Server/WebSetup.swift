import Hummingbird
import Logging
import NIOCore
import NIOPosix
import PostgresClient
import ProcessEvents
import PushCore
import Store

/// The configuration of a web process.
package struct WebSetup: Sendable {
    /// The settings of all processes.
    package var settings: Settings
    /// How to connect to the database; registrations, tracking and reading have one connection each.
    package var database: PostgresConfiguration
    package var hostName: String
    package var version: String
    package var logger: Logger
    /// Whether the database is reachable, as seen by all connections of the process.
    package var availability: DatabaseAvailability
    /// Reads the keys that seal the secrets of user key proofs.
    package var keyring: @Sendable () throws -> CredentialKeyring
    /// The event loops of all connections. The web process does not shut them down, because Hummingbird still uses them
    /// after it has reported its end.
    package var loops: MultiThreadedEventLoopGroup
    /// Adds routes below `/api/`.
    package var addRoutes: @Sendable (Router<WebContext>) -> Void

    package init(
        settings: Settings,
        database: PostgresConfiguration,
        hostName: String,
        version: String,
        logger: Logger,
        availability: DatabaseAvailability? = nil,
        keyring: @escaping @Sendable () throws -> CredentialKeyring,
        loops: MultiThreadedEventLoopGroup = .singleton,
        addRoutes: @escaping @Sendable (Router<WebContext>) -> Void = { _ in }
    ) {
        self.settings = settings
        self.database = database
        self.hostName = hostName
        self.version = version
        self.logger = logger
        self.availability = availability ?? DatabaseAvailability(logger: logger)
        self.keyring = keyring
        self.loops = loops
        self.addRoutes = addRoutes
    }
}
