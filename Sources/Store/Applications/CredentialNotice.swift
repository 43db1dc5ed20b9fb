import PostgresClient
import PushCore

/// What may be shown of a credential.
public struct CredentialNotice: Sendable, Hashable {
    public let id: Int64
    public let kind: CredentialKind
    /// Unique.
    public let name: String
    public let sealKeyID: String
    /// SHA-256 of the material, hex.
    public let fingerprint: String
    /// When it expires; nil if it does not.
    public let expiresAt: DatabaseTime?
    /// How long it is good, by the database's clock; negative when its time is over, nil if it does not expire.
    public let secondsLeft: Double?
    /// The applications that it belongs to, by name.
    public let applications: [String]
    /// The topics that a certificate names; empty if it names none, or is none.
    public let topics: [String]
    /// The environments that a certificate names; empty if it names none, or is none.
    public let environments: [String]

    public init(
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

    /// The words of a list as it is stored.
    private static func list(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
    }
}

/// Something that is sealed in the database.
public struct SealedItem: Sendable {
    /// Its id, which the seal authenticates.
    public let id: Int64
    public let sealKeyID: String
    /// The sealed bytes; never in a log.
    public let sealed: [UInt8]
    /// Whose it is, for people.
    public let owner: String
}

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

    /// What is sealed: credentials, and the secrets of services' proofs of user keys. Their ids are of one sequence.
    public func sealedItems() async throws -> [SealedItem] {
        let result = try await query("\(Self.sealedSQL) ORDER BY 1")
        return try all(result, Self.sealedItem)
    }

    /// Something sealed, as it is stored; nil if it is gone.
    public func sealedItem(_ id: Int64) async throws -> SealedItem? {
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
        """

    private static func sealedItem(_ row: inout RowReader) throws -> SealedItem {
        SealedItem(
            id: try row.int64(),
            sealKeyID: try row.text(),
            sealed: try row.bytes(),
            owner: try row.text()
        )
    }

    /// A credential as it is stored; nil if it is gone.
    public func credential(_ id: Int64) async throws -> CredentialRow? {
        let result = try await query(
            "SELECT \(Self.credentialColumns) FROM pushmta_engine.credential c WHERE c.id = $1",
            [.int64(id)]
        )
        return try result.oneOrNil(Self.credential)
    }

    /// Puts what was sealed anew in the place of the same under the key before; false if somebody else has changed it meanwhile.
    public func reseal(_ id: Int64, from oldKeyID: String, to keyID: String, sealed: [UInt8]) async throws
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
            )
            SELECT (SELECT count(*) FROM credential) + (SELECT count(*) FROM secret)
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
