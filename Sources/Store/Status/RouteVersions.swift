import PushCore

/// What children take over when they start, of all applications and external accounts: whoever compares two of these sees whose
/// children go on with what is not true any more.
public struct RouteVersions: Sendable, Equatable {
    /// What an external account says.
    public struct Account: Sendable, Equatable {
        /// What speaks to the gateway.
        public let connector: Connector
        /// Another text for another address, other options or another connector.
        public let version: String

        /// An account as it is now.
        public init(connector: Connector, version: String) {
            self.connector = connector
            self.version = version
        }
    }

    /// Of each application, by its id, a text that is another one with another bundle id, environment or credential.
    public var applications: [Int32: String]
    /// The external accounts by their ids.
    public var accounts: [Int32: Account]

    /// Some applications and accounts.
    public init(applications: [Int32: String] = [:], accounts: [Int32: Account] = [:]) {
        self.applications = applications
        self.accounts = accounts
    }
}
