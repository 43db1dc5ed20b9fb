import PostgresClient
import PushCore

/// What children take over when they start, of all applications and external accounts: whoever compares two of these sees whose
/// children go on with what is not true any more.
public struct RouteVersions: Sendable, Equatable {
    /// What an external account says.
    public struct Account: Sendable, Equatable {
        /// What speaks to the gateway.
        public let connector: Connector
        /// Another text for another address, other options or another connector.
        public let version: String

        /// An account as it is now.
        public init(connector: Connector, version: String) {
            self.connector = connector
            self.version = version
        }
    }

    /// Of each application, by its id, a text that is another one with another bundle id, environment or credential.
    public var applications: [Int32: String]
    /// The external accounts by their ids.
    public var accounts: [Int32: Account]
    /// The names of applications by their ids; another name makes no other route.
    public var applicationNames: [Int32: String] = [:]
    /// The names of external accounts by their ids.
    public var accountNames: [Int32: String] = [:]

    public init(applications: [Int32: String] = [:], accounts: [Int32: Account] = [:]) {
        self.applications = applications
        self.accounts = accounts
    }
}

extension Store {
    /// What children that start now would take over.
    public func routeVersions() async throws -> RouteVersions {
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

    /// The deliveries under way over an external account, or to an application: those for which a change comes in their middle.
    public func deliveriesUnderWay(account name: String) async throws -> [Int64] {
        try await deliveries(
            "x.external_account_id = (SELECT e.id FROM pushmta_engine.external_account e WHERE e.name = $1)",
            name
        )
    }

    /// The same for an application.
    public func deliveriesUnderWay(application name: String) async throws -> [Int64] {
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
            WHERE d.state IN ('pending', 'preparing', 'in_progress', 'paused') AND \(condition) ORDER BY d.id
            """,
            [.text(name)]
        )
        return try all(rows) { row in try row.int64() }
    }
}
