import PostgresClient
import PushCore

extension Store {
    /// Reserves the id of a new credential before it is sealed, because the seal authenticates it.
    package func nextCredentialID() async throws -> Int64 {
        try await query("SELECT nextval(pg_get_serial_sequence('pushmta_engine.credential', 'id'))")
            .one { try $0.int64() }
    }

    /// Stores a sealed credential and binds it to an application.
    ///
    /// It replaces a credential of the same name for all applications that share it; the id is then the new one's. The
    /// application's earlier credential is deleted if no other application uses it.
    ///
    /// - Parameter allowsBothEnvironments: whether a certificate may serve a sandbox and a production application,
    ///   which is refused otherwise.
    package func saveCredential(
        _ credential: CredentialRow,
        application: String,
        allowsBothEnvironments: Bool = false
    ) async throws {
        try await query(Self.bindCredentialSQL, Self.binding(credential, application, allowsBothEnvironments))
    }

    /// Does the same as a part of a larger transaction.
    static func bind(
        _ credential: CredentialRow,
        _ application: String,
        _ allowsBothEnvironments: Bool,
        _ transaction: PostgresTransaction
    ) async throws {
        try await transaction.execute(
            PostgresStatement(bindCredentialSQL, binding(credential, application, allowsBothEnvironments))
        )
    }

    private static let bindCredentialSQL = """
        SELECT pushmta_engine.bind_credential($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::bigint / 1000000.0), $10)
        """

    private static func binding(_ credential: CredentialRow, _ application: String, _ allowsBothEnvironments: Bool)
        -> [PostgresValue]
    {
        [
            .text(application), .int64(credential.id), .text(credential.kind.rawValue), .text(credential.name),
            .text(credential.sealKeyID), .bytes(credential.sealed), .json(credential.attributes),
            .text(credential.fingerprint), .int64OrNull(credential.expiresAt?.microsecondsSince1970),
            .bool(allowsBothEnvironments),
        ]
    }

    /// The sealed credential of an application.
    ///
    /// Throws `notFound`, with the remedy, if it has none.
    package func credential(application id: Int32) async throws -> CredentialRow {
        let result = try await query(
            """
            SELECT \(Self.credentialColumns) FROM pushmta_engine.application a
            JOIN pushmta_engine.credential c ON c.id = a.credential_id WHERE a.id = $1
            """,
            [.int32(id)]
        )
        guard result.rowCount > 0 else {
            let application = try await application(id)
            throw StoreError(
                .notFound,
                "Application \"\(application.name)\" has no credential, so its gateway accepts nothing.",
                hint: "pushmta credential set \(application.name) sets one"
            )
        }
        return try result.one(Self.credential)
    }
}
