import PostgresClient
import PushCore

/// What registrations need to know about services: whom they trust, and the keys of proofs.
package struct RegistrationTrust: Sendable {
    /// By application id.
    package let services: [Int32: (service: Int32, trust: UserKeyTrust)]
    /// The keys of all services.
    package let keys: [ProofKeyRow]
}

extension Store {
    /// Whom services trust to say which user a device belongs to, for registrations.
    package func registrationTrust() async throws -> RegistrationTrust {
        let trust = try await query(
            "SELECT t.application_id, t.service_id, t.trust FROM pushmta_engine.registration_trust() t"
        )
        let keys = try await query("SELECT \(Self.proofKeyColumns) FROM pushmta_engine.registration_proof_keys() k")
        let services = try all(trust) { row in
            (try row.int32(), (service: try row.int32(), trust: try row.choice() as UserKeyTrust))
        }
        return RegistrationTrust(
            services: Dictionary(services, uniquingKeysWith: { first, _ in first }),
            keys: try all(keys, Self.proofKey)
        )
    }

    package func userKeyTrust(service: String) async throws -> UserKeyTrust {
        let row = try await self.service(named: service)
        let result = try await query(
            "SELECT v.user_key_trust FROM pushmta_engine.service v WHERE v.id = $1",
            [.int32(row.id)]
        )
        return try first(result, orThrow: "There is no service \"\(service)\".") { try $0.choice() }
    }

    /// The keys of a service's proofs, by their ids.
    package func proofKeys(service: String) async throws -> [ProofKeyRow] {
        let row = try await self.service(named: service)
        let result = try await query(
            "SELECT \(Self.proofKeyColumns) FROM pushmta_engine.service_proof_key k WHERE k.service_id = $1 ORDER BY k.key_id",
            [.int32(row.id)]
        )
        return try all(result, Self.proofKey)
    }

    /// Changes whom a service trusts, and the keys of its proofs, in one transaction.
    ///
    /// - Parameters:
    ///   - trust: nil leaves it unchanged.
    ///   - adding: a key, which replaces one with the same id.
    ///   - removing: the id of a key to remove.
    /// - Throws: `StoreError` if `removing` names no key, or if the service asks for proofs and has no key to verify
    ///   them.
    package func setUserKeyTrust(
        service: String,
        _ trust: UserKeyTrust?,
        adding: ProofKeyRow? = nil,
        removing: String? = nil
    ) async throws {
        let row = try await self.service(named: service)
        try await transaction { transaction in
            // Two sessions that change the keys of one service at once must see each other.
            try await transaction.execute(
                PostgresStatement("SELECT FROM pushmta_engine.service v WHERE v.id = $1 FOR UPDATE", [.int32(row.id)])
            )
            if let removing {
                let removed = try await transaction.execute(
                    PostgresStatement(
                        "DELETE FROM pushmta_engine.service_proof_key k WHERE k.service_id = $1 AND k.key_id = $2",
                        [.int32(row.id), .text(removing)]
                    )
                )
                guard removed.affectedRows > 0 else {
                    throw StoreError(
                        .notFound,
                        "Service \"\(service)\" has no proof key \"\(removing)\".",
                        hint: "pushmta service show \(service) lists them"
                    )
                }
            }
            if let adding {
                let added = try await transaction.execute(
                    PostgresStatement(Self.addProofKeySQL, Self.parameters(adding))
                )
                guard added.affectedRows > 0 else {
                    throw StoreError(
                        .conflict,
                        "Service \"\(service)\" has a proof key \"\(adding.keyID)\" already, which tokens name.",
                        hint: "give the new key an id of its own, or drop the old one with --drop-proof-key too"
                    )
                }
            }
            let after = try await transaction.execute(
                PostgresStatement(
                    """
                    UPDATE pushmta_engine.service v SET user_key_trust = coalesce($2::text, v.user_key_trust), changed_at = now()
                    WHERE v.id = $1 RETURNING v.user_key_trust,
                        EXISTS (SELECT FROM pushmta_engine.service_proof_key k WHERE k.service_id = v.id)
                    """,
                    [.int32(row.id), .textOrNull(trust?.rawValue)]
                )
            )
            let (setting, hasKey) = try after.one { row in (try row.text(), try row.bool()) }
            guard setting != UserKeyTrust.signed.rawValue || hasKey else {
                throw StoreError(
                    .invalid,
                    "Service \"\(service)\" would have user_key_trust signed and no key to verify proofs.",
                    hint: "give --proof-key FILE and --proof-key-id KID too"
                )
            }
        }
    }

    /// Removes the user keys that only devices have claimed, in all applications of a service; returns how many.
    package func unlinkUnproven(service: String) async throws -> Int {
        var unlinked = 0
        for application in try await applications(ofService: service) {
            var behind: Int64? = 0
            while let after = behind {
                let batch = try await unlinkBatch(application.id, after)
                behind = batch.last
                unlinked += batch.unlinked
            }
        }
        return unlinked
    }

    /// A batch that meets a row locked by another transaction is tried again; registrations proceed between two tries.
    private func unlinkBatch(_ application: Int32, _ after: Int64) async throws -> (last: Int64?, unlinked: Int) {
        var tries = 0
        while true {
            do {
                return try await query(
                    "SELECT u.last_id, u.unlinked FROM pushmta_engine.unlink_unproven($1, $2, $3) u",
                    [.int32(application), .int64(after), .int32(Self.unlinkBatch)]
                ).one { row in (try row.int64OrNil(), Int(try row.int32())) }
            } catch let error as PostgresError where error.isLockTimeout && tries < Self.maxUnlinkTries {
                tries += 1
                try await Task.sleep(for: Self.unlinkPause)
            }
        }
    }

    /// Registrations wait while one batch runs: some tenths of a second.
    private static let unlinkBatch: Int32 = 2_000
    private static let unlinkPause = Duration.milliseconds(400)
    /// About ten seconds.
    private static let maxUnlinkTries = 20

    private static let proofKeyColumns =
        "k.id, k.service_id, k.key_id, k.algorithm, k.public_key, k.sealed, k.seal_key_id"

    private static func proofKey(_ row: inout RowReader) throws -> ProofKeyRow {
        ProofKeyRow(
            id: try row.int64(),
            serviceID: try row.int32(),
            keyID: try row.text(),
            algorithm: try row.choice(),
            publicKey: try row.bytesOrNil(),
            sealed: try row.bytesOrNil(),
            sealKeyID: try row.textOrNil()
        )
    }

    private static let addProofKeySQL = """
        INSERT INTO pushmta_engine.service_proof_key (id, service_id, key_id, algorithm, public_key, sealed, seal_key_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (service_id, key_id) DO NOTHING
        """

    private static func parameters(_ key: ProofKeyRow) -> [PostgresValue] {
        [
            .int64(key.id), .int32(key.serviceID), .text(key.keyID), .text(key.algorithm.rawValue),
            key.publicKey.map(PostgresValue.bytes) ?? .null, key.sealed.map(PostgresValue.bytes) ?? .null,
            .textOrNull(key.sealKeyID),
        ]
    }
}
