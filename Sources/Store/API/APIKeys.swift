import PostgresClient
import PushCore

/// A key of the API to store; the key itself stays with who made it.
public struct NewAPIKey: Sendable {
    /// What names it: no secret.
    public var publicID: String
    /// Its SHA-256, see `APIKey`.
    public var hash: [UInt8]
    /// Whose it is, for people; one that is not revoked has no other one's.
    public var name: String
    /// What it may be used for.
    public var scopes: Set<APIScope>
    /// The names of the applications that it is for; none: all.
    public var applications: [String]
    /// Days until it expires; nil: never.
    public var validDays: Int32?

    public init(
        publicID: String,
        hash: [UInt8],
        name: String,
        scopes: Set<APIScope>,
        applications: [String] = [],
        validDays: Int32? = nil
    ) {
        self.publicID = publicID
        self.hash = hash
        self.name = name
        self.scopes = scopes
        self.applications = applications
        self.validDays = validDays
    }
}

/// A key of the API, as lists show it.
public struct APIKeyRow: Sendable {
    /// The public part of the key.
    public let publicID: String
    /// Its owner.
    public let name: String
    /// What it may be used for, as it is stored.
    public let scopes: [String]
    /// The names of the applications that it is for; empty: all.
    public let applications: [String]
    public let createdAt: DatabaseTime
    /// When it expires, nil for never.
    public let expiresAt: DatabaseTime?
    /// When it was revoked, nil if it was not.
    public let revokedAt: DatabaseTime?
    /// The hour in which it was used last, nil if never.
    public let lastUsedAt: DatabaseTime?
    /// `active`, `expired` or `revoked`.
    public let state: String
}

/// What the owner of a key of the API may do.
public struct VerifiedAPIKey: Sendable, Hashable {
    public let id: Int32
    /// Its owner.
    public let name: String
    /// What it may be used for.
    public let scopes: Set<APIScope>
    /// The applications that it is for; nil: all.
    public let applicationIDs: Set<Int32>?
    /// Why it is not accepted: `revoked` or `expired`; "" if it is.
    public let problem: String

    /// Whether it is for an application.
    public func allows(application id: Int32) -> Bool {
        applicationIDs?.contains(id) ?? true
    }
}

extension Store {
    /// What a key may do; nil if there is no such key. The comparison of the hashes is the database's, in a time that tells nothing.
    public func verifyAPIKey(publicID: String, hash: [UInt8]) async throws -> VerifiedAPIKey? {
        let result = try await query(
            "SELECT k.id, k.name, k.scopes, k.application_ids, k.problem FROM pushmta_engine.verify_api_key($1, $2) k",
            [.text(publicID), .bytes(hash)]
        )
        return try result.oneOrNil { row in
            VerifiedAPIKey(
                id: try row.int32(),
                name: try row.text(),
                // A scope of a newer program's is none that this one has something for.
                scopes: Set(try row.textArray().compactMap(APIScope.init(rawValue:))),
                applicationIDs: try row.int32ArrayOrNil().map { Set($0) },
                problem: try row.text()
            )
        }
    }

    /// The public ids of all keys, accepted or not.
    public func apiKeyIDs() async throws -> Set<String> {
        let result = try await query("SELECT k FROM pushmta_engine.api_key_ids() k")
        return Set(try all(result) { row in try row.text() })
    }

    /// Stores a key of the API.
    public func createAPIKey(_ key: NewAPIKey) async throws {
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
                "There is an API key \"\(key.name)\" already.",
                hint: "choose another name, or revoke that one: pushmta key revoke"
            )
        }
    }

    /// All keys of the API, those that are accepted first, by name.
    public func apiKeys() async throws -> [APIKeyRow] {
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

    /// Revokes a key by its public id or its name; processes that know it take it for some seconds more.
    ///
    /// Throws `notFound`, also for one that was revoked before by its name.
    public func revokeAPIKey(_ key: String) async throws {
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
