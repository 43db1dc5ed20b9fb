import Content
import PostgresClient
import PushCore

/// An application whose gateway takes nothing, on one of its accounts.
package struct AccountTrouble: Sendable, Hashable {
    package let account: String
    package let reason: String
    /// How long the gateway has taken nothing.
    package let seconds: Double
    /// Messages that wait for it.
    package let waiting: Int64
    package let probes: Int32
}

/// The values of a service that can be changed.
package struct ServiceFacts: Sendable, Hashable {
    /// Its name in commands and SQL.
    package let name: String
    /// The display name.
    package var label: String
    /// The target mapping that links its user keys to people; nil for none.
    package var mapping: String?
    /// Who may say which user a device belongs to.
    package var trust: UserKeyTrust

    package init(name: String, label: String, mapping: String?, trust: UserKeyTrust) {
        self.name = name
        self.label = label
        self.mapping = mapping
        self.trust = trust
    }
}

extension Store {
    /// A page of services with their applications, by name.
    ///
    /// - Parameter after: the last line of the previous page, service and application.
    package func serviceLines(after: (service: String, application: String), limit: Int) async throws -> [ServiceLine] {
        let result = try await query(
            """
            SELECT l.service, l.label, m.name, l.user_key_trust, l.id, l.name, l.platform, l.environment, l.bundle_id, e.name, l.credential_id IS NOT NULL,
                CASE WHEN isfinite(c.expires_at) THEN extract(epoch FROM c.expires_at - now())::double precision END,
                pushmta_engine.circuit_of(h.state, h.next_probe_at),
                EXISTS (SELECT FROM pushmta_engine.gateway_trouble t WHERE t.application_id = l.id AND \(TroubleSQL.isTrouble))
            FROM (
                SELECT v.name AS service, v.label, v.target_mapping_id, v.user_key_trust, a.id, coalesce(a.name, '') AS name, a.platform, a.environment, a.bundle_id,
                    a.credential_id, a.external_account_id
                FROM pushmta_engine.service v LEFT JOIN pushmta_engine.application a ON a.service_id = v.id
                WHERE (v.name, coalesce(a.name, '')) > ($1, $2) ORDER BY v.name, coalesce(a.name, '') LIMIT $3
            ) l
            LEFT JOIN pushmta_engine.external_account e ON e.id = l.external_account_id
            LEFT JOIN pushmta_engine.application_health h ON h.application_id = l.id
            LEFT JOIN pushmta.credential c ON c.id = l.credential_id
            LEFT JOIN pushmta.target_mapping m ON m.id = l.target_mapping_id
            ORDER BY l.service, l.name
            """,
            [.text(after.service), .text(after.application), .int64(Int64(limit))]
        )
        return try all(result) { row in
            ServiceLine(
                service: try row.text(),
                label: try row.text(),
                mapping: try row.textOrNil(),
                trust: try row.choice(),
                application: try row.ifPresent(10, Self.lineApplication)
            )
        }
    }

    private static func lineApplication(_ row: inout RowReader) throws -> ServiceLine.Application {
        ServiceLine.Application(
            id: try row.int32(),
            name: try row.text(),
            platform: try row.choice(),
            environment: try row.choice(),
            bundleID: try row.text(),
            account: try row.textOrNil(),
            hasCredential: try row.bool(),
            credentialSecondsLeft: try row.doubleOrNil(),
            circuit: try row.choice(),
            isInTrouble: try row.bool()
        )
    }

    /// The names of services, as a form offers them.
    package func serviceNames(limit: Int) async throws -> [String] {
        let result = try await query(
            "SELECT v.name FROM pushmta.service v ORDER BY v.name LIMIT $1",
            [.int64(Int64(limit))]
        )
        return try all(result) { row in try row.text() }
    }

    /// A service by its name, with the version by which a form detects a change.
    package func serviceFacts(_ name: String) async throws -> (facts: ServiceFacts, version: Int64) {
        let result = try await query(
            """
            SELECT v.name, v.label, m.name, v.user_key_trust, pushmta_engine.version_of(v.changed_at, NULL)
            FROM pushmta_engine.service v LEFT JOIN pushmta.target_mapping m ON m.id = v.target_mapping_id WHERE v.name = $1
            """,
            [.text(name)]
        )
        return try first(result, orThrow: "There is no service \"\(name)\".") { row in
            let facts = ServiceFacts(
                name: try row.text(),
                label: try row.text(),
                mapping: try row.textOrNil(),
                trust: try row.choice()
            )
            return (facts, try row.int64())
        }
    }

    /// The names of target mappings, in order.
    package func mappingNames(limit: Int) async throws -> [String] {
        let result = try await query(
            "SELECT m.name FROM pushmta.target_mapping m ORDER BY m.name LIMIT $1",
            [.int64(Int64(limit))]
        )
        return try all(result) { row in try row.text() }
    }

    /// The applications, by name, whose deliveries use an external account by default.
    package func applications(account id: Int32, limit: Int) async throws -> [(id: Int32, name: String)] {
        let result = try await query(
            "SELECT a.id, a.name FROM pushmta_engine.application a WHERE a.external_account_id = $1 ORDER BY a.name LIMIT $2",
            [.int32(id), .int64(Int64(limit))]
        )
        return try all(result) { row in (try row.int32(), try row.text()) }
    }

    /// External accounts by name, after the given name.
    ///
    /// - Parameter platform: accounts of one platform; nil for all.
    package func accounts(after name: String, platform: Platform? = nil, limit: Int) async throws -> [AccountRow] {
        let result = try await query(
            """
            SELECT \(AccountRow.columns) FROM pushmta_engine.external_account e
            WHERE e.name > $1 AND ($2::text IS NULL OR e.connector LIKE $2 || '-%') ORDER BY e.name LIMIT $3
            """,
            [.text(name), .textOrNull(platform?.rawValue), .int64(Int64(limit))]
        )
        return try all(result, AccountRow.init)
    }

    /// The name of an application's service.
    package func serviceName(_ id: Int32) async throws -> String {
        let result = try await query("SELECT v.name FROM pushmta.service v WHERE v.id = $1", [.int32(id)])
        return try first(result, orThrow: "There is no service \(id).") { row in try row.text() }
    }

    /// The public facts of a credential; nil if it was deleted.
    package func credentialFacts(_ id: Int64) async throws -> CredentialFacts? {
        let result = try await query(
            """
            SELECT c.kind, c.fingerprint, c.expires_at,
                CASE WHEN isfinite(c.expires_at) THEN extract(epoch FROM c.expires_at - now())::double precision END, c.created_at,
                c.attributes::text, c.applications
            FROM pushmta.credential c WHERE c.id = $1
            """,
            [.int64(id)]
        )
        return try result.oneOrNil { row in
            CredentialFacts(
                kind: try row.choice(),
                fingerprint: try row.text(),
                expiresAt: try row.timeOrNil(),
                secondsLeft: try row.doubleOrNil(),
                createdAt: try row.time(),
                attributes: (try? JSONBody.decode([String: String].self, from: try row.text().utf8)) ?? [:],
                applications: try row.textArray()
            )
        }
    }

    /// The circuit of an application; nil if it never had a problem.
    package func applicationHealth(_ id: Int32) async throws -> ApplicationHealthRow? {
        let result = try await query(Self.healthSQL + " WHERE h.application_id = $1", [.int32(id)])
        return try result.oneOrNil(Self.health)
    }

    /// The accounts whose gateways take nothing from an application at present.
    package func troubles(application name: String) async throws -> [AccountTrouble] {
        let result = try await query(
            """
            SELECT t.account, t.reason, t.seconds, t.waiting, t.probes FROM pushmta.gateway_trouble t
            WHERE t.application = $1 AND \(TroubleSQL.isTrouble) ORDER BY t.account
            """,
            [.text(name)]
        )
        return try all(result) { row in
            AccountTrouble(
                account: try row.text(),
                reason: try row.text(),
                seconds: try row.double(),
                waiting: try row.int64(),
                probes: try row.int32()
            )
        }
    }
}
