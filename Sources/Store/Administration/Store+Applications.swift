import PostgresClient
import PushCore

extension Store {
    /// Creates an application of a service, with what it declares and its credential, or nothing of all that.
    ///
    /// Throws `invalid` if its gateway would refuse each of its messages.
    ///
    /// - Parameters:
    ///   - change: declarations and icon.
    ///   - credential: sealed under an id of `nextCredentialID`; it is bound as `saveCredential` does it.
    @discardableResult
    public func createApplication(
        _ new: NewApplication,
        _ change: ApplicationChange = ApplicationChange(),
        credential: CredentialRow? = nil,
        allowsBothEnvironments: Bool = false
    ) async throws -> ApplicationRow {
        try NameCheck.name(new.name, of: "application")
        try NameCheck.label(new.label, of: "application")
        try NameCheck.integrationKey(new.integrationKey)
        // Tests and old installations have applications without any.
        if !new.bundleID.isEmpty, let problem = BundleID.problem(new.bundleID, new.platform) {
            throw StoreError(.invalid, "Application \"\(new.name)\": \(problem).")
        }
        return try await transaction { transaction in
            let row = try await Self.insert(new, transaction)
            if !change.isEmpty { _ = try await Self.change(row, change, transaction) }
            if let credential { try await Self.bind(credential, new.name, allowsBothEnvironments, transaction) }
            return row
        }
    }

    private static func insert(_ new: NewApplication, _ transaction: PostgresTransaction) async throws -> ApplicationRow
    {
        let service = try await transaction.execute(
            PostgresStatement("SELECT id FROM pushmta_engine.service WHERE name = $1", [.text(new.service)])
        )
        guard service.rowCount > 0 else {
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
                    .int32(try service.int32(0, 0)), .text(new.name), .text(new.label), .text(new.platform.rawValue),
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
        let row = try ApplicationRow(result, 0)
        if let account { try refuse(RouteCheck.problem(row, account), of: row) }
        return row
    }

    static func noApplication(_ name: String) -> String { "There is no application \"\(name)\"." }
    static let applicationHint = "pushmta app list shows them"

    /// All applications by name.
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

    /// How many columns these are.
    static let columnCount = 13

    init(_ rows: PostgresResult, _ row: Int) throws {
        self.init(
            id: try rows.int32(row, 0),
            serviceID: try rows.int32(row, 1),
            name: try rows.text(row, 2),
            label: try rows.text(row, 3),
            platform: try Store.choice(rows, row, 4),
            environment: try Store.choice(rows, row, 5),
            integrationKey: try rows.text(row, 6),
            bundleID: try rows.text(row, 7),
            messageIDFormat: try Store.choice(rows, row, 8),
            accountID: try rows.int32OrNil(row, 9),
            credentialID: try rows.int64OrNil(row, 10),
            variables: try rows.text(row, 11),
            sounds: try rows.text(row, 12)
        )
    }
}
