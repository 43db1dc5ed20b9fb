import PostgresClient
import PushCore

/// Looking after credentials that are there.
extension Store {
    /// What may be shown of all credentials, by id.
    public func credentials() async throws -> [CredentialNotice] {
        try all(
            try await query("SELECT \(CredentialNotice.columns) FROM pushmta_engine.credential c ORDER BY c.id"),
            CredentialNotice.init
        )
    }

    /// The credentials that belong to an application and expire within so many days, or have expired, the next one first.
    public func expiringCredentials(withinDays days: Int) async throws -> [CredentialNotice] {
        let result = try await query(
            """
            SELECT \(CredentialNotice.columns) FROM pushmta_engine.credential c
            WHERE c.expires_at < now() + make_interval(days => $1)
                AND EXISTS (SELECT FROM pushmta_engine.application a WHERE a.credential_id = c.id)
            ORDER BY c.expires_at, c.id
            """,
            [.int32(Int32(clamping: days))]
        )
        return try all(result, CredentialNotice.init)
    }

    /// A credential as it is stored; nil if it is gone.
    public func credential(_ id: Int64) async throws -> CredentialRow? {
        let result = try await query(
            "SELECT \(Self.credentialColumns) FROM pushmta_engine.credential c WHERE c.id = $1",
            [.int64(id)]
        )
        return result.rowCount > 0 ? try Self.credential(result, 0) : nil
    }

    /// Puts a credential that was sealed anew in the place of the same one under the key before; false if somebody else has
    /// changed it meanwhile.
    public func resealCredential(_ id: Int64, from oldKeyID: String, to keyID: String, sealed: [UInt8]) async throws
        -> Bool
    {
        try await query(
            """
            UPDATE pushmta_engine.credential SET sealed = $4, seal_key_id = $3, changed_at = now()
            WHERE id = $1 AND seal_key_id = $2
            """,
            [.int64(id), .text(oldKeyID), .text(keyID), .bytes(sealed)]
        ).affectedRows > 0
    }

    static let credentialColumns =
        "c.id, c.kind, c.name, c.seal_key_id, c.sealed, c.attributes::text, c.fingerprint, c.expires_at"

    static func credential(_ rows: PostgresResult, _ row: Int) throws -> CredentialRow {
        CredentialRow(
            id: try rows.int64(row, 0),
            kind: try choice(rows, row, 1),
            name: try rows.text(row, 2),
            sealKeyID: try rows.text(row, 3),
            sealed: try rows.bytes(row, 4),
            attributes: try rows.text(row, 5),
            fingerprint: try rows.text(row, 6),
            expiresAt: try rows.timeOrNil(row, 7)
        )
    }
}
