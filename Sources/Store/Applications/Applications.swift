import Content
import PostgresClient
import PushCore

/// An application of a service on one platform and environment.
public struct ApplicationRow: Sendable, Hashable {
    public let id: Int32
    public let serviceID: Int32
    /// Its name in commands and SQL, unique.
    public let name: String
    /// The name people see.
    public let label: String
    public let platform: Platform
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

/// What the application's declarations mean for a content.
extension ApplicationRow {
    /// What of a content the application would not understand; see `ApplicationDeclarations`.
    public func problems(content: String) -> [ContentProblem] {
        declared?.problems(content: content, platform: platform) ?? []
    }

    /// The content with the default values of declared variables that it does not give.
    public func completed(content: String) -> String {
        declared?.completed(content: content, platform: platform) ?? content
    }

    /// The form of its messages over a connector; nil for that of its platform.
    public func format(over connector: Connector?, usesProjectKey: Bool = false) -> PayloadFormat {
        PayloadFormat(
            connector: connector ?? (platform == .ios ? .iosHTTP2 : .androidV1),
            usesProjectKey: usesProjectKey
        )
    }

    /// A content as children render it for this application, for people to look at; throws what they would refuse.
    ///
    /// - Parameters:
    ///   - connector: that of its account; nil for that of its platform.
    ///   - delivery: the id in its messages. The longest one, unless it is known: what fits with it fits with every other.
    ///   - isContinuous: whether a continuous delivery says it.
    ///   - carriesValidity: whether its messages have an end.
    public func template(
        of json: String,
        over connector: Connector?,
        usesProjectKey: Bool = false,
        delivery: Int64 = .max,
        isContinuous: Bool = false,
        carriesValidity: Bool = false
    ) throws(ContentError) -> LocalisedTemplate {
        let unknown = problems(content: json)
        if !unknown.isEmpty { throw ContentError(problems: unknown) }
        let document = try PushContent(json: completed(content: json))
        return try LocalisedTemplate.compile(
            content: isContinuous ? document.ofContinuous : document,
            format: format(over: connector, usesProjectKey: usesProjectKey),
            deliveryID: delivery,
            messageIDFormat: messageIDFormat,
            carriesValidity: carriesValidity
        )
    }

    /// Nil if they are stored in a form that this program does not know: a delivery then goes as its content is.
    private var declared: ApplicationDeclarations? {
        try? ApplicationDeclarations(variables: variables, sounds: sounds, parameters: "[]")
    }
}

public struct NewApplication: Sendable {
    /// What is put behind the name of an iOS app's production application for that of its sandbox.
    public static let sandboxEnding = "-sandbox"

    public var service: String
    /// Its name in commands and SQL, unique.
    public var name: String
    /// The name people see.
    public var label: String
    public var platform: Platform
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

extension Store {
    /// Creates an application of a service, with what it declares and its credential, or nothing of all that.
    ///
    /// Throws `invalid` if its gateway would refuse each of its messages.
    ///
    /// - Parameters:
    ///   - change: declarations and icon.
    ///   - credential: sealed under an id of `nextCredentialID`; it is bound as `saveCredential` does it.
    ///   - sandbox: the other half of an app for iOS, with the same declarations and no credential yet.
    @discardableResult
    public func createApplication(
        _ new: NewApplication,
        _ change: ApplicationChange = ApplicationChange(),
        credential: CredentialRow? = nil,
        allowsBothEnvironments: Bool = false,
        sandbox: NewApplication? = nil
    ) async throws -> ApplicationRow {
        for new in [new] + [sandbox].compactMap({ $0 }) {
            try NameCheck.name(new.name, of: "application")
            try NameCheck.label(new.label, of: "application")
            try NameCheck.integrationKey(new.integrationKey)
            // Tests and old installations have applications without any.
            if !new.bundleID.isEmpty, let problem = BundleID.problem(new.bundleID, new.platform) {
                throw StoreError(.invalid, "Application \"\(new.name)\": \(problem).")
            }
        }
        return try await transaction { transaction in
            let row = try await Self.insert(new, transaction)
            if !change.isEmpty { _ = try await Self.change(row, change, transaction) }
            if let sandbox {
                let half = try await Self.insert(sandbox, transaction)
                if !change.isEmpty { _ = try await Self.change(half, change, transaction) }
            }
            if let credential { try await Self.bind(credential, new.name, allowsBothEnvironments, transaction) }
            return row
        }
    }

    private static func insert(_ new: NewApplication, _ transaction: PostgresTransaction) async throws -> ApplicationRow
    {
        let service = try await transaction.execute(
            PostgresStatement("SELECT id FROM pushmta_engine.service WHERE name = $1", [.text(new.service)])
        )
        guard let serviceID = try service.oneOrNil({ try $0.int32() }) else {
            throw StoreError(
                .notFound,
                "There is no service \"\(new.service)\".",
                hint: "pushmta service add makes one"
            )
        }
        let account = try await account(new.account, platform: new.platform, transaction)
        let result = try await transaction.execute(
            PostgresStatement(
                """
                INSERT INTO pushmta_engine.application AS a (service_id, name, label, platform, environment, integration_key,
                    bundle_id, message_id_format, external_account_id)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::integer) ON CONFLICT DO NOTHING
                RETURNING \(ApplicationRow.columns)
                """,
                [
                    .int32(serviceID), .text(new.name), .text(new.label), .text(new.platform.rawValue),
                    .text(new.environment.rawValue), .text(new.integrationKey), .text(new.bundleID),
                    .text(new.messageIDFormat.rawValue), account.map { .int32($0.id) } ?? .null,
                ]
            )
        )
        guard result.rowCount > 0 else {
            throw StoreError(
                .conflict,
                "There is an application with the name \"\(new.name)\" or with the same integration key already.",
                hint: "pushmta app list shows them"
            )
        }
        let row = try result.one(ApplicationRow.init)
        if let account { try refuse(RouteCheck.problem(row, account), of: row) }
        return row
    }

    static func noApplication(_ name: String) -> String { "There is no application \"\(name)\"." }
    static let applicationHint = "pushmta app list shows them"

    /// All applications, sorted by name.
    public func applications() async throws -> [ApplicationRow] {
        try all(
            try await query("SELECT \(ApplicationRow.columns) FROM pushmta_engine.application a ORDER BY a.name"),
            ApplicationRow.init
        )
    }

    /// An application by its id.
    public func application(_ id: Int32) async throws -> ApplicationRow {
        let result = try await query(
            "SELECT \(ApplicationRow.columns) FROM pushmta_engine.application a WHERE a.id = $1",
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no application \(id).", ApplicationRow.init)
    }

    /// An application by its name.
    public func application(named name: String) async throws -> ApplicationRow {
        let result = try await query(
            "SELECT \(ApplicationRow.columns) FROM pushmta_engine.application a WHERE a.name = $1",
            [.text(name)]
        )
        return try first(
            result,
            orThrow: Self.noApplication(name),
            hint: Self.applicationHint,
            ApplicationRow.init
        )
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
