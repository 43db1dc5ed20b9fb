import Content
import PostgresClient
import PushCore

/// An application of a service on one platform and environment.
package struct ApplicationRow: Sendable, Hashable {
    package let id: Int32
    package let serviceID: Int32
    /// Its name in commands and SQL, unique.
    package let name: String
    /// The display name.
    package let label: String
    package let platform: Platform
    package let environment: ApplicationEnvironment
    /// The key with which the SDK registers, unique.
    package let integrationKey: String
    /// Bundle id (the APNs topic) or package name.
    package let bundleID: String
    /// How `_mId` is written.
    package let messageIDFormat: MessageIDFormat
    /// The account that deliveries use unless they name another.
    package let accountID: Int32?
    /// The credential for the gateway.
    package let credentialID: Int64?
    /// Declared variables (name, type, default, label), JSON array.
    package let variables: String
    /// Declared sounds (name, label, whether it is the system's), JSON array.
    package let sounds: String

    package init(
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

/// How the application's declarations apply to a content.
extension ApplicationRow {
    /// The parts of a content that the application would not understand; see `ApplicationDeclarations`.
    package func problems(content: String) -> [ContentProblem] {
        declared?.problems(content: content, platform: platform) ?? []
    }

    /// The content with the default values of declared variables that it does not set.
    package func completed(content: String) -> String {
        declared?.completed(content: content, platform: platform) ?? content
    }

    /// The form of its messages over a connector; nil for the default connector of its platform.
    package func format(over connector: Connector?, credential: CredentialKind? = nil) -> PayloadFormat {
        PayloadFormat(connector: connector ?? (platform == .ios ? .iosHTTP2 : .androidV1), credential: credential)
    }

    /// A content as children render it for this application, for people to read; throws what they would refuse.
    ///
    /// - Parameters:
    ///   - connector: that of its account; nil for the default of its platform.
    ///   - credential: the kind of its credential; nil for the usual one.
    ///   - delivery: the id in its messages. By default the longest one: a message that fits with it fits with every
    ///     other.
    ///   - isContinuous: whether it belongs to a continuous delivery.
    ///   - carriesValidity: whether its messages have an expiry.
    package func template(
        of json: String,
        over connector: Connector?,
        credential: CredentialKind? = nil,
        delivery: Int64 = .max,
        isContinuous: Bool = false,
        carriesValidity: Bool = false
    ) throws(ContentError) -> LocalisedTemplate {
        let unknown = problems(content: json)
        if !unknown.isEmpty { throw ContentError(problems: unknown) }
        let document = try PushContent(json: completed(content: json))
        return try LocalisedTemplate.compile(
            content: isContinuous ? document.ofContinuous : document,
            format: format(over: connector, credential: credential),
            deliveryID: delivery,
            messageIDFormat: messageIDFormat,
            carriesValidity: carriesValidity
        )
    }

    /// Nil if they are stored in a form that this program does not know: a delivery then uses its content unchanged.
    private var declared: ApplicationDeclarations? {
        try? ApplicationDeclarations(variables: variables, sounds: sounds, parameters: "[]")
    }
}

extension ApplicationRow {
    static let columns = """
        a.id, a.service_id, a.name, a.label, a.platform, a.environment, a.integration_key, a.bundle_id, a.message_id_format,
        a.external_account_id, a.credential_id, a.variables::text, a.sounds::text
        """

    init(_ row: inout RowReader) throws {
        self.init(
            id: try row.int32(),
            serviceID: try row.int32(),
            name: try row.text(),
            label: try row.text(),
            platform: try row.choice(),
            environment: try row.choice(),
            integrationKey: try row.text(),
            bundleID: try row.text(),
            messageIDFormat: try row.choice(),
            accountID: try row.int32OrNil(),
            credentialID: try row.int64OrNil(),
            variables: try row.text(),
            sounds: try row.text()
        )
    }
}
