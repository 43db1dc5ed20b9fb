import PushCore

/// A line in the list of services: a service with one of its applications, or alone if it has none.
package struct ServiceLine: Sendable, Hashable {
    /// An application, as the list shows it.
    package struct Application: Sendable, Hashable {
        package let id: Int32
        /// Its name in commands, unique.
        package let name: String
        package let platform: Platform
        package let environment: ApplicationEnvironment
        /// Bundle id or package name.
        package let bundleID: String
        /// The name of its external account; nil if it has none.
        package let account: String?
        /// Whether it has a credential.
        package let hasCredential: Bool
        /// For how many seconds the credential is valid; nil if it does not expire.
        package let credentialSecondsLeft: Double?
        package let circuit: CircuitState
        /// Whether the gateway of an account takes nothing from it at present.
        package let isInTrouble: Bool
    }

    /// The service's name in commands, unique.
    package let service: String
    /// The display name.
    package let label: String
    /// The target mapping that links its user keys to people; nil for none.
    package let mapping: String?
    /// Who may say which user a device belongs to.
    package let trust: UserKeyTrust
    /// One of its applications.
    package let application: Application?
}
