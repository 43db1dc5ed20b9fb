import PostgresClient
import PushCore

/// What may be shown of a credential.
package struct CredentialNotice: Sendable, Hashable {
    package let id: Int64
    package let kind: CredentialKind
    /// Unique.
    package let name: String
    package let sealKeyID: String
    /// SHA-256 of the material, hex.
    package let fingerprint: String
    /// When it expires; nil if it does not.
    package let expiresAt: DatabaseTime?
    /// How long it is valid, by the database's clock; negative if it has expired, nil if it does not expire.
    package let secondsLeft: Double?
    /// The names of the applications that use it.
    package let applications: [String]
    /// The topics that a certificate names; empty if it names none, or if it is not a certificate.
    package let topics: [String]
    /// The environments that a certificate names; empty if it names none, or if it is not a certificate.
    package let environments: [String]

    package init(
        id: Int64,
        kind: CredentialKind,
        name: String,
        sealKeyID: String,
        fingerprint: String,
        expiresAt: DatabaseTime? = nil,
        secondsLeft: Double? = nil,
        applications: [String] = [],
        topics: [String] = [],
        environments: [String] = []
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.sealKeyID = sealKeyID
        self.fingerprint = fingerprint
        self.expiresAt = expiresAt
        self.secondsLeft = secondsLeft
        self.applications = applications
        self.topics = topics
        self.environments = environments
    }

    /// The columns of a credential `c`.
    static let columns = """
        c.id, c.kind, c.name, c.seal_key_id, c.fingerprint, c.expires_at,
        CASE WHEN isfinite(c.expires_at) THEN extract(epoch FROM c.expires_at - now())::double precision END,
        ARRAY(SELECT x.name FROM pushmta_engine.application x WHERE x.credential_id = c.id ORDER BY x.name),
        coalesce(c.attributes ->> 'topics', ''), coalesce(c.attributes ->> 'environments', '')
        """

    init(_ row: inout RowReader) throws {
        self.init(
            id: try row.int64(),
            kind: try row.choice(),
            name: try row.text(),
            sealKeyID: try row.text(),
            fingerprint: try row.text(),
            expiresAt: try row.timeOrNil(),
            secondsLeft: try row.doubleOrNil(),
            applications: try row.textArray(),
            topics: Self.list(try row.text()),
            environments: Self.list(try row.text())
        )
    }

    /// The elements of a list as it is stored.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
    }
}

/// A sealed item of the database.
package struct SealedItem: Sendable {
    /// Its id, which the seal authenticates.
    package let id: Int64
    package let sealKeyID: String
    /// The sealed bytes; never logged.
    package let sealed: [UInt8]
    /// Its owner, as shown to people.
    package let owner: String
}

/// Maintenance of stored credentials.
extension Store {
    /// The public facts of all credentials, by id.
    package func credentials() async throws -> [CredentialNotice] {
        try all(
            try await query("SELECT \(CredentialNotice.columns) FROM pushmta_engine.credential c ORDER BY c.id"),
            CredentialNotice.init
        )
    }

    /// The credentials of applications that expire within this many days, or have expired, in the order of expiry.
    package func expiringCredentials(withinDays days: Int) async throws -> [CredentialNotice] {
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

    /// All sealed items: credentials, and the secrets of services' proofs of user keys and of webhooks. Their ids come
    /// from one sequence.
    package func sealedItems() async throws -> [SealedItem] {
        let result = try await query("\(Self.sealedSQL) ORDER BY 1")
        return try all(result, Self.sealedItem)
    }

    /// A sealed item as it is stored; nil if it was deleted.
    package func sealedItem(_ id: Int64) async throws -> SealedItem? {
        let result = try await query(
            "SELECT i.* FROM (\(Self.sealedSQL)) i(id, key, sealed, owner) WHERE i.id = $1",
            [.int64(id)]
        )
        return try result.oneOrNil(Self.sealedItem)
    }

    private static let sealedSQL = """
        SELECT c.id, c.seal_key_id, c.sealed, coalesce((SELECT string_agg(a.name, ', ' ORDER BY a.name)
            FROM pushmta_engine.application a WHERE a.credential_id = c.id), '')
        FROM pushmta_engine.credential c
        UNION ALL
        SELECT k.id, k.seal_key_id, k.sealed, 'proof key ' || k.key_id || ' of service ' || v.name
        FROM pushmta_engine.service_proof_key k JOIN pushmta_engine.service v ON v.id = k.service_id WHERE k.sealed IS NOT NULL
        UNION ALL
        SELECT s.id, s.seal_key_id, s.sealed, 'secret of the webhook of consumer ' || c.name
        FROM pushmta_engine.webhook_secret s JOIN pushmta_engine.event_consumer c ON c.id = s.consumer_id
        """

    private static func sealedItem(_ row: inout RowReader) throws -> SealedItem {
        SealedItem(
            id: try row.int64(),
            sealKeyID: try row.text(),
            sealed: try row.bytes(),
            owner: try row.text()
        )
    }

    /// A credential as it is stored; nil if it was deleted.
    package func credential(_ id: Int64) async throws -> CredentialRow? {
        let result = try await query(
            "SELECT \(Self.credentialColumns) FROM pushmta_engine.credential c WHERE c.id = $1",
            [.int64(id)]
        )
        return try result.oneOrNil(Self.credential)
    }

    /// Replaces an item that was sealed under an earlier key by the same item under the new one; false if it was
    /// changed meanwhile.
    package func reseal(_ id: Int64, from oldKeyID: String, to keyID: String, sealed: [UInt8]) async throws
        -> Bool
    {
        try await query(
            """
            WITH credential AS (
                UPDATE pushmta_engine.credential SET sealed = $4, seal_key_id = $3, changed_at = now()
                WHERE id = $1 AND seal_key_id = $2 RETURNING 1
            ), secret AS (
                UPDATE pushmta_engine.service_proof_key SET sealed = $4, seal_key_id = $3
                WHERE id = $1 AND seal_key_id = $2 RETURNING 1
            ), webhook AS (
                UPDATE pushmta_engine.webhook_secret SET sealed = $4, seal_key_id = $3
                WHERE id = $1 AND seal_key_id = $2 RETURNING 1
            )
            SELECT (SELECT count(*) FROM credential) + (SELECT count(*) FROM secret) + (SELECT count(*) FROM webhook)
            """,
            [.int64(id), .text(oldKeyID), .text(keyID), .bytes(sealed)]
        ).one { try $0.int64() > 0 }
    }

    static let credentialColumns =
        "c.id, c.kind, c.name, c.seal_key_id, c.sealed, c.attributes::text, c.fingerprint, c.expires_at"

    static func credential(_ row: inout RowReader) throws -> CredentialRow {
        CredentialRow(
            id: try row.int64(),
            kind: try row.choice(),
            name: try row.text(),
            sealKeyID: try row.text(),
            sealed: try row.bytes(),
            attributes: try row.text(),
            fingerprint: try row.text(),
            expiresAt: try row.timeOrNil()
        )
    }
}
