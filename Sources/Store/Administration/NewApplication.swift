import PushCore

/// An application to create.
public struct NewApplication: Sendable {
    /// Name of its service.
    public var service: String
    /// Its name in commands and SQL, unique.
    public var name: String
    /// Its name for people.
    public var label: String
    /// iOS or Android.
    public var platform: Platform
    /// Sandbox or production.
    public var environment: ApplicationEnvironment
    /// What the SDK registers with, unique.
    public var integrationKey: String
    /// Bundle id (the APNs topic) or package name.
    public var bundleID: String
    /// How `_mId` is written.
    public var messageIDFormat: MessageIDFormat
    /// Name of the external account.
    public var account: String?

    /// An application; `service` and `account` are names.
    public init(
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
