import PushCore

/// An application of a service on one platform and environment.
public struct ApplicationRow: Sendable, Hashable {
    /// Its id.
    public let id: Int32
    /// Its service.
    public let serviceID: Int32
    /// Its name in commands and SQL, unique.
    public let name: String
    /// Its name for people.
    public let label: String
    /// iOS or Android.
    public let platform: Platform
    /// Sandbox or production.
    public let environment: ApplicationEnvironment
    /// What the SDK registers with, unique.
    public let integrationKey: String
    /// Bundle id (the APNs topic) or package name.
    public let bundleID: String
    /// How `_mId` is written.
    public let messageIDFormat: MessageIDFormat
    /// The routing that deliveries take unless they say otherwise.
    public let accountID: Int32?
    /// The credential for the gateway.
    public let credentialID: Int64?
    /// Declared variables (name, type, default, label), JSON array.
    public let variables: String
    /// Declared sounds (name, label, whether it is the system's), JSON array.
    public let sounds: String

    /// An application.
    public init(
        id: Int32,
        serviceID: Int32,
        name: String,
        label: String,
        platform: Platform,
        environment: ApplicationEnvironment,
        integrationKey: String,
        bundleID: String,
        messageIDFormat: MessageIDFormat,
        accountID: Int32?,
        credentialID: Int64?,
        variables: String,
        sounds: String = "[]"
    ) {
        self.id = id
        self.serviceID = serviceID
        self.name = name
        self.label = label
        self.platform = platform
        self.environment = environment
        self.integrationKey = integrationKey
        self.bundleID = bundleID
        self.messageIDFormat = messageIDFormat
        self.accountID = accountID
        self.credentialID = credentialID
        self.variables = variables
        self.sounds = sounds
    }
}
