import PostgresClient
import PushCore

/// A credential as it is stored: sealed, with what may be shown of it.
public struct CredentialRow: Sendable {
    /// Its id: part of what the seal authenticates, so it is handed out before sealing (`nextCredentialID`).
    public let id: Int64
    /// What the material is.
    public let kind: CredentialKind
    /// Its name, unique.
    public let name: String
    /// Which key sealed it.
    public let sealKeyID: String
    /// The sealed material; never in a log.
    public let sealed: [UInt8]
    /// What is not secret (APNs key id and team id, Google project id), a flat JSON object.
    public let attributes: String
    /// SHA-256 of the material, hex: what people compare.
    public let fingerprint: String
    /// When it expires; nil if it does not.
    public let expiresAt: DatabaseTime?

    /// A credential to store.
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
    /// What opens it.
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
        try await query("SELECT nextval(pg_get_serial_sequence('pushmta_engine.credential', 'id'))").int64(0, 0)
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
        try await transaction { transaction in
            try await Self.bind(credential, application, allowsBothEnvironments, transaction)
        }
    }

    /// The same as a part of a transaction that does more.
    static func bind(
        _ credential: CredentialRow,
        _ application: String,
        _ allowsBothEnvironments: Bool,
        _ transaction: PostgresTransaction
    ) async throws {
        let before = try await Self.lockApplication(application, transaction)
        if credential.kind == .apnsCertificate, !allowsBothEnvironments {
            try await Self.refuseSharing(credential.fingerprint, with: application, transaction)
        }
        let replaced = try await transaction.execute(
            PostgresStatement(
                "UPDATE pushmta_engine.credential SET name = name || '/replaced/' || id WHERE name = $1 RETURNING id",
                [.text(credential.name)]
            )
        )
        try await transaction.execute(PostgresStatement(Self.insertCredentialSQL, Self.parameters(credential)))
        try await transaction.execute(
            PostgresStatement(
                "UPDATE pushmta_engine.application SET credential_id = $2, changed_at = now() WHERE name = $1",
                [.text(application), .int64(credential.id)]
            )
        )
        for row in 0..<replaced.rowCount {
            try await transaction.execute(
                PostgresStatement(
                    "UPDATE pushmta_engine.application SET credential_id = $2, changed_at = now() WHERE credential_id = $1",
                    [.int64(try replaced.int64(row, 0)), .int64(credential.id)]
                )
            )
            try await Self.dropCredential(try replaced.int64(row, 0), transaction)
        }
        if let before { try await Self.dropCredential(before, transaction) }
    }

    /// Keeps others from binding a credential to the application; returns what it has now.
    private static func lockApplication(_ name: String, _ transaction: PostgresTransaction) async throws -> Int64? {
        let found = try await transaction.execute(
            PostgresStatement(
                "SELECT credential_id FROM pushmta_engine.application WHERE name = $1 FOR NO KEY UPDATE",
                [.text(name)]
            )
        )
        guard found.rowCount > 0 else {
            throw StoreError(
                .notFound,
                "There is no application \"\(name)\".",
                hint: "pushmta app list shows them"
            )
        }
        return try found.int64OrNil(0, 0)
    }

    /// A certificate that is in use for an application of the other environment is most probably the wrong one.
    private static func refuseSharing(
        _ fingerprint: String,
        with application: String,
        _ transaction: PostgresTransaction
    ) async throws {
        // Two that are set at the same moment must see each other.
        try await transaction.execute(
            PostgresStatement("LOCK TABLE pushmta_engine.credential IN SHARE ROW EXCLUSIVE MODE", prepare: false)
        )
        let found = try await transaction.execute(
            PostgresStatement(
                """
                SELECT a.name, a.environment, own.environment FROM pushmta_engine.application own
                JOIN pushmta_engine.application a ON a.environment <> own.environment AND a.platform = own.platform
                JOIN pushmta_engine.credential c ON c.id = a.credential_id
                WHERE own.name = $1 AND c.kind = 'apns_certificate' AND c.fingerprint = $2 ORDER BY a.name LIMIT 1
                """,
                [.text(application), .text(fingerprint)]
            )
        )
        guard found.rowCount > 0 else { return }
        let (other, theirs, own) = (try found.text(0, 0), try found.text(0, 1), try found.text(0, 2))
        throw StoreError(
            .conflict,
            "The certificate \(fingerprint.prefix(16))… is that of application \"\(other)\" of the \(theirs) environment already, and \"\(application)\" is of the \(own) one: the two environments do not share a certificate.",
            hint:
                "set the certificate of the \(own) environment; one that Apple issued for both is taken with --both-environments"
        )
    }

    /// Deletes a credential that no application has any more.
    private static func dropCredential(_ id: Int64, _ transaction: PostgresTransaction) async throws {
        try await transaction.execute(
            PostgresStatement(
                """
                DELETE FROM pushmta_engine.credential c WHERE c.id = $1
                    AND NOT EXISTS (SELECT FROM pushmta_engine.application a WHERE a.credential_id = c.id)
                """,
                [.int64(id)]
            )
        )
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
        return try Self.credential(result, 0)
    }
}
