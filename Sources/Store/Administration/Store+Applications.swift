import PostgresClient
import PushCore

extension Store {
    /// Creates an application of a service.
    @discardableResult
    public func createApplication(_ new: NewApplication) async throws -> ApplicationRow {
        let service = try await query("SELECT id FROM pushmta_engine.service WHERE name = $1", [.text(new.service)])
        let serviceID = try first(
            service,
            orThrow: "There is no service \"\(new.service)\".",
            hint: "pushmta service add makes one"
        ) { rows, row in try rows.int32(row, 0) }
        let accountID = try await account(new.account, platform: new.platform)
        let result = try await query(
            """
            INSERT INTO pushmta_engine.application AS a (service_id, name, label, platform, environment, integration_key,
                bundle_id, message_id_format, external_account_id)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::integer) ON CONFLICT DO NOTHING
            RETURNING \(ApplicationRow.columns)
            """,
            [
                .int32(serviceID), .text(new.name), .text(new.label), .text(new.platform.rawValue),
                .text(new.environment.rawValue), .text(new.integrationKey), .text(new.bundleID),
                .text(new.messageIDFormat.rawValue), accountID.map(PostgresValue.int32) ?? .null,
            ]
        )
        guard result.rowCount > 0 else {
            throw StoreError(
                .conflict,
                "There is an application with the name \"\(new.name)\" or with the same integration key already.",
                hint: "pushmta app list shows them"
            )
        }
        return try ApplicationRow(result, 0)
    }

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
            orThrow: "There is no application \"\(name)\".",
            hint: "pushmta app list shows them",
            ApplicationRow.init
        )
    }
}

extension ApplicationRow {
    static let columns = """
        a.id, a.service_id, a.name, a.label, a.platform, a.environment, a.integration_key, a.bundle_id, a.message_id_format,
        a.external_account_id, a.credential_id, a.variables::text, a.sounds::text
        """

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
