import PostgresClient
import PushCore

extension Store {
    /// A new credential's id, to be handed out before it is sealed: the seal authenticates it.
    public func nextCredentialID() async throws -> Int64 {
        try await query("SELECT nextval(pg_get_serial_sequence('pushmta_engine.credential', 'id'))").int64(0, 0)
    }

    /// Stores a sealed credential and binds it to an application.
    ///
    /// A credential of the same name is replaced, since applications share one by name; its row id is the new one's.
    public func saveCredential(_ credential: CredentialRow, application: String) async throws {
        try await transaction { transaction in
            let replaced = try await transaction.execute(
                PostgresStatement(
                    "UPDATE pushmta_engine.credential SET name = name || '/replaced/' || id WHERE name = $1 RETURNING id",
                    [.text(credential.name)]
                )
            )
            try await transaction.execute(PostgresStatement(Self.insertCredentialSQL, Self.parameters(credential)))
            let bound = try await transaction.execute(
                PostgresStatement(
                    "UPDATE pushmta_engine.application SET credential_id = $2, changed_at = now() WHERE name = $1",
                    [.text(application), .int64(credential.id)]
                )
            )
            guard bound.affectedRows > 0 else {
                throw StoreError(
                    .notFound,
                    "There is no application \"\(application)\".",
                    hint: "pushmta app list shows them"
                )
            }
            guard replaced.rowCount > 0 else { return }
            let old = PostgresValue.int64(try replaced.int64(0, 0))
            try await transaction.execute([
                PostgresStatement(
                    "UPDATE pushmta_engine.application SET credential_id = $2, changed_at = now() WHERE credential_id = $1",
                    [old, .int64(credential.id)]
                ),
                PostgresStatement("DELETE FROM pushmta_engine.credential WHERE id = $1", [old]),
            ])
        }
    }

    private static let insertCredentialSQL = """
        INSERT INTO pushmta_engine.credential (id, kind, name, seal_key_id, sealed, attributes, fingerprint, expires_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8::bigint / 1000000.0))
        """

    private static func parameters(_ credential: CredentialRow) -> [PostgresValue] {
        [
            .int64(credential.id), .text(credential.kind.rawValue), .text(credential.name), .text(credential.sealKeyID),
            .bytes(credential.sealed), .json(credential.attributes), .text(credential.fingerprint),
            .int64OrNull(credential.expiresAt?.microsecondsSince1970),
        ]
    }

    /// The sealed credential of an application.
    ///
    /// Throws `notFound`, with the way out, if it has none.
    public func credential(application id: Int32) async throws -> CredentialRow {
        let result = try await query(
            """
            SELECT c.id, c.kind, c.name, c.seal_key_id, c.sealed, c.attributes::text, c.fingerprint, c.expires_at
            FROM pushmta_engine.application a JOIN pushmta_engine.credential c ON c.id = a.credential_id WHERE a.id = $1
            """,
            [.int32(id)]
        )
        guard result.rowCount > 0 else {
            let application = try await application(id)
            throw StoreError(
                .notFound,
                "Application \"\(application.name)\" has no credential, so its gateway accepts nothing.",
                hint: "pushmta credential set \(application.name) gives it one"
            )
        }
        return CredentialRow(
            id: try result.int64(0, 0),
            kind: try choice(result, 0, 1),
            name: try result.text(0, 2),
            sealKeyID: try result.text(0, 3),
            sealed: try result.bytes(0, 4),
            attributes: try result.text(0, 5),
            fingerprint: try result.text(0, 6),
            expiresAt: try result.timeOrNil(0, 7)
        )
    }
}
