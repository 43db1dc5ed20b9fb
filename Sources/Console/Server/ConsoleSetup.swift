import Logging
import PostgresClient
import PushCore
import Store

/// What a console is made from.
package struct ConsoleSetup: Sendable {
    /// The settings of all processes.
    package var settings: Settings
    /// The database configuration.
    package var database: PostgresConfiguration
    package var version: String
    /// What the gateways' responses mean, by reason.
    package var meanings: @Sendable (String) -> String?
    /// Seals uploaded credentials.
    package var credentials: CredentialSealing
    package var logger: Logger
    /// The settings in force with their sources, for the page that shows them.
    package var settingsInForce: [SettingInForce]
    /// The time that sessions and locks use; nil, except in tests, for the database's clock.
    package var moment: @Sendable () -> DatabaseTime?

    package init(
        settings: Settings,
        database: PostgresConfiguration,
        version: String,
        meanings: @escaping @Sendable (String) -> String?,
        credentials: CredentialSealing,
        logger: Logger,
        settingsInForce: [SettingInForce] = [],
        moment: @escaping @Sendable () -> DatabaseTime? = { nil }
    ) {
        self.settings = settings
        self.database = database
        self.version = version
        self.meanings = meanings
        self.credentials = credentials
        self.logger = logger
        self.settingsInForce = settingsInForce
        self.moment = moment
    }
}
