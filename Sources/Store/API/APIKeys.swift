import PostgresClient
import PushCore

/// A key of the API, as lists show it.
package struct APIKeyRow: Sendable {
    /// The public part of the key.
    package let publicID: String
    /// Its owner.
    package let name: String
    /// What it may be used for, as it is stored.
    package let scopes: [String]
    /// The names of the applications that it is valid for; empty: all.
    package let applications: [String]
    package let createdAt: DatabaseTime
    /// When it expires, nil for never.
    package let expiresAt: DatabaseTime?
    /// When it was revoked, nil if it was not.
    package let revokedAt: DatabaseTime?
    /// The hour in which it was last used, nil if never.
    package let lastUsedAt: DatabaseTime?
    /// `active`, `expired` or `revoked`.
    package let state: String
}

extension Store {
    /// What a key may do; nil if there is no such key. The database compares the hashes, in a time that reveals
    /// nothing.
    package func verifyAPIKey(publicID: String, hash: [UInt8]) async throws -> VerifiedAPIKey? {
        let result = try await query(
            "SELECT k.id, k.name, k.scopes, k.application_ids, k.problem FROM pushmta_engine.verify_api_key($1, $2) k",
            [.text(publicID), .bytes(hash)]
        )
        return try result.oneOrNil { row in
            VerifiedAPIKey(
                id: try row.int32(),
                name: try row.text(),
                // Scopes of a newer program, which this one does not know, are ignored.
                scopes: Set(try row.textArray().compactMap(APIScope.init(rawValue:))),
                applicationIDs: try row.int32ArrayOrNil().map { Set($0) },
                problem: try row.text()
            )
        }
    }

    /// The public ids of all keys, accepted or not.
    package func apiKeyIDs() async throws -> Set<String> {
        let result = try await query("SELECT k FROM pushmta_engine.api_key_ids() k")
        return Set(try all(result) { row in try row.text() })
    }

    /// Stores an API key.
    package func createAPIKey(_ key: NewAPIKey) async throws {
        try NameCheck.name(key.name, of: "API key")
        var ids: [Int32] = []
        for name in key.applications { ids.append(try await application(named: name).id) }
        let result = try await query(
            """
            INSERT INTO pushmta_engine.api_key (public_id, key_hash, name, scopes, application_ids, expires_at)
            VALUES ($1, $2, $3, $4, $5, now() + make_interval(days => $6::integer))
            ON CONFLICT (name) WHERE revoked_at IS NULL DO NOTHING RETURNING id
            """,
            [
                .text(key.publicID), .bytes(key.hash), .text(key.name),
                .textArray(key.scopes.map(\.rawValue).sorted()),
                ids.isEmpty ? .null : .int32Array(ids), key.validDays.map(PostgresValue.int32) ?? .null,
            ]
        )
        guard result.rowCount > 0 else {
            throw StoreError(
                .conflict,
                "API key \"\(key.name)\" already exists.",
                hint: "choose another name, or revoke that one: pushmta key revoke"
            )
        }
    }

    /// All API keys, accepted ones first, by name.
    package func apiKeys() async throws -> [APIKeyRow] {
        let result = try await query(
            """
            SELECT k.public_id, k.name, k.scopes,
                ARRAY(SELECT a.name FROM pushmta_engine.application a WHERE a.id = ANY(k.application_ids) ORDER BY a.name),
                k.created_at, k.expires_at, k.revoked_at, k.last_used_at,
                CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' WHEN k.expires_at <= now() THEN 'expired' ELSE 'active' END AS state
            FROM pushmta_engine.api_key k ORDER BY state, k.name, k.id
            """
        )
        return try all(result) { row in
            APIKeyRow(
                publicID: try row.text(),
                name: try row.text(),
                scopes: try row.textArray(),
                applications: try row.textArray(),
                createdAt: try row.time(),
                expiresAt: try row.timeOrNil(),
                revokedAt: try row.timeOrNil(),
                lastUsedAt: try row.timeOrNil(),
                state: try row.text()
            )
        }
    }

    /// Revokes an API key by its public id or its name. Processes that have it cached accept it for some seconds more.
    ///
    /// Throws `notFound`, also if the key with this name was revoked before.
    package func revokeAPIKey(_ key: String) async throws {
        let result = try await query(
            """
            UPDATE pushmta_engine.api_key k SET revoked_at = coalesce(k.revoked_at, now())
            WHERE k.public_id = $1 OR k.name = $1 AND k.revoked_at IS NULL RETURNING k.id
            """,
            [.text(key)]
        )
        guard result.rowCount > 0 else {
            throw StoreError(.notFound, "There is no API key \"\(key)\".", hint: "pushmta key list shows them")
        }
    }
}
