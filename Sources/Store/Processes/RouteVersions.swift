import PostgresClient
import PushCore

/// The versions of all applications and external accounts that children apply when they start. The difference between
/// two of these shows whose children still use old values.
package struct RouteVersions: Sendable, Equatable {
    /// The version of an external account.
    package struct Account: Sendable, Equatable {
        /// The protocol to the gateway.
        package let connector: Connector
        /// A text that changes with the address, the options or the connector.
        package let version: String

        package init(connector: Connector, version: String) {
            self.connector = connector
            self.version = version
        }
    }

    /// For each application, by id, a text that changes with its bundle id, environment or credential.
    package var applications: [Int32: String]
    /// The external accounts by their ids.
    package var accounts: [Int32: Account]
    /// The names of applications by their ids; a new name does not change the route.
    package var applicationNames: [Int32: String] = [:]
    /// The names of external accounts by their ids.
    package var accountNames: [Int32: String] = [:]

    package init(applications: [Int32: String] = [:], accounts: [Int32: Account] = [:]) {
        self.applications = applications
        self.accounts = accounts
    }
}

extension Store {
    /// The versions that children would apply if they started now.
    package func routeVersions() async throws -> RouteVersions {
        let results = try await group([
            PostgresStatement(Self.applicationVersionsSQL), PostgresStatement(Self.accountVersionsSQL),
        ])
        var versions = RouteVersions()
        guard results.count == 2 else { return versions }
        try results[0].each { row in
            let id = try row.int32()
            versions.applications[id] = try row.text()
            versions.applicationNames[id] = try row.text()
        }
        try results[1].each { row in
            let id = try row.int32()
            versions.accounts[id] = RouteVersions.Account(connector: try row.choice(), version: try row.text())
            versions.accountNames[id] = try row.text()
        }
        return versions
    }

    private static let applicationVersionsSQL = """
        SELECT a.id, md5(jsonb_build_array(a.bundle_id, a.environment, a.message_id_format, a.credential_id, c.fingerprint,
            c.attributes)::text), a.name
        FROM pushmta_engine.application a LEFT JOIN pushmta_engine.credential c ON c.id = a.credential_id
        """

    private static let accountVersionsSQL = """
        SELECT e.id, e.connector, md5(jsonb_build_array(e.connector, e.host, e.port, e.options)::text), e.name
        FROM pushmta_engine.external_account e
        """

    /// The deliveries under way over an external account, or to an application: those that a change would affect while
    /// they are sent.
    package func deliveriesUnderWay(account name: String) async throws -> [Int64] {
        try await deliveries(
            "x.external_account_id = (SELECT e.id FROM pushmta_engine.external_account e WHERE e.name = $1)",
            name
        )
    }

    /// The same for an application.
    package func deliveriesUnderWay(application name: String) async throws -> [Int64] {
        try await deliveries(
            "x.application_id = (SELECT a.id FROM pushmta_engine.application a WHERE a.name = $1)",
            name
        )
    }

    private func deliveries(_ condition: String, _ name: String) async throws -> [Int64] {
        let rows = try await query(
            """
            SELECT DISTINCT d.id FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application x ON x.delivery_id = d.id
            WHERE d.state IN ('analysing', 'ready', 'pending', 'preparing', 'in_progress', 'paused') AND \(condition) ORDER BY d.id
            """,
            [.text(name)]
        )
        return try all(rows) { row in try row.int64() }
    }
}
