import PushCore

package struct NewApplication: Sendable {
    /// Appended to the name of an iOS app's production application for the name of its sandbox.
    package static let sandboxEnding = "-sandbox"

    package var service: String
    /// Its name in commands and SQL, unique.
    package var name: String
    /// The display name.
    package var label: String
    package var platform: Platform
    package var environment: ApplicationEnvironment
    /// The key with which the SDK registers, unique.
    package var integrationKey: String
    /// Bundle id (the APNs topic) or package name.
    package var bundleID: String
    /// How `_mId` is written.
    package var messageIDFormat: MessageIDFormat
    /// Name of the external account.
    package var account: String?

    /// An application; `service` and `account` are names.
    package init(
        service: String,
        name: String,
        label: String? = nil,
        platform: Platform,
        environment: ApplicationEnvironment = .production,
        integrationKey: String,
        bundleID: String = "",
        messageIDFormat: MessageIDFormat = .uuid,
        account: String? = nil
    ) {
        self.service = service
        self.name = name
        self.label = label ?? name
        self.platform = platform
        self.environment = environment
        self.integrationKey = integrationKey
        self.bundleID = bundleID
        self.messageIDFormat = messageIDFormat
        self.account = account
    }
}
