import Content
import PostgresClient
import PushCore

extension Store {
    /// Creates an application of a service, optionally with its declarations and its credential.
    ///
    /// Throws `invalid` if its gateway would refuse each of its messages.
    ///
    /// - Parameters:
    ///   - change: declarations and icon.
    ///   - credential: sealed under an id of `nextCredentialID`; it is bound as in `saveCredential`.
    ///   - sandbox: the sandbox application of the same iOS app, with the same declarations and no credential yet.
    @discardableResult
    package func createApplication(
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
            // Tests and old installations have applications without a bundle id.
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
                hint: "pushmta service add adds one"
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
                "An application with the name \"\(new.name)\" or with this integration key already exists.",
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
    package func applications() async throws -> [ApplicationRow] {
        try all(
            try await query("SELECT \(ApplicationRow.columns) FROM pushmta_engine.application a ORDER BY a.name"),
            ApplicationRow.init
        )
    }

    /// An application by its id.
    package func application(_ id: Int32) async throws -> ApplicationRow {
        let result = try await query(
            "SELECT \(ApplicationRow.columns) FROM pushmta_engine.application a WHERE a.id = $1",
            [.int32(id)]
        )
        return try first(result, orThrow: "There is no application \(id).", ApplicationRow.init)
    }

    /// An application by its name.
    package func application(named name: String) async throws -> ApplicationRow {
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
