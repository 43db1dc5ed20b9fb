import PostgresClient
import PushCore

/// A credential as it is stored: sealed, with what may be shown of it.
public struct CredentialRow: Sendable {
    /// Its id: part of what the seal authenticates, so it is handed out before sealing (`nextCredentialID`).
    public let id: Int64
    public let kind: CredentialKind
    /// Unique.
    public let name: String
    public let sealKeyID: String
    /// The sealed material; never in a log.
    public let sealed: [UInt8]
    /// What is not secret (APNs key id and team id, Google project id), a flat JSON object.
    public let attributes: String
    /// SHA-256 of the material, hex: what people compare.
    public let fingerprint: String
    /// When it expires; nil if it does not.
    public let expiresAt: DatabaseTime?

    public init(
        id: Int64,
        kind: CredentialKind,
        name: String,
        sealKeyID: String,
        sealed: [UInt8],
        attributes: String,
        fingerprint: String,
        expiresAt: DatabaseTime?
    ) {
        self.id = id
        self.kind = kind
        self.name = name
        self.sealKeyID = sealKeyID
        self.sealed = sealed
        self.attributes = attributes
        self.fingerprint = fingerprint
        self.expiresAt = expiresAt
    }
}

extension CredentialRow {
    public var sealedCredential: SealedCredential {
        SealedCredential(
            id: id,
            kind: kind,
            name: name,
            sealKeyID: sealKeyID,
            sealed: sealed,
            attributes: attributes
        )
    }
}

extension Store {
    /// A new credential's id, to be handed out before it is sealed: the seal authenticates it.
    public func nextCredentialID() async throws -> Int64 {
        try await query("SELECT nextval(pg_get_serial_sequence('pushmta_engine.credential', 'id'))")
            .one { try $0.int64() }
    }

    /// Stores a sealed credential and binds it to an application.
    ///
    /// A credential of the same name is replaced, since applications share one by name; its row id is the new one's. What the
    /// application had before goes when nobody else has it.
    ///
    /// - Parameter allowsBothEnvironments: whether a certificate may serve a sandbox and a production application, which is
    ///   refused otherwise.
    public func saveCredential(
        _ credential: CredentialRow,
        application: String,
        allowsBothEnvironments: Bool = false
    ) async throws {
        try await query(Self.bindCredentialSQL, Self.binding(credential, application, allowsBothEnvironments))
    }

    /// The same as a part of a transaction that does more.
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
    /// Throws `notFound`, with the way out, if it has none.
    public func credential(application id: Int32) async throws -> CredentialRow {
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
                hint: "pushmta credential set \(application.name) gives it one"
            )
        }
        return try result.one(Self.credential)
    }
}
