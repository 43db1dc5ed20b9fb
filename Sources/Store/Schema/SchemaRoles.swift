import PostgresClient
import Schema

/// The roles of the schema, none of which can log in, to grant to the users of each kind.
///
/// Their rights are in `Sources/Schema/rights.sql`: each migration repairs what is missing, and `doctor` tells of it.
enum SchemaRoles {
    /// Their names, in the order in which they are made.
    static let names = [
        "pushmta_runtime", "pushmta_marketing", "pushmta_tokens", "pushmta_monitoring", "pushmta_raw_sql",
        Store.webRole, Store.consoleRole, ViewReader.role,
    ]

    /// Those that the cluster has not.
    static func missing(_ connection: PostgresConnection) async throws -> [String] {
        let result = try await connection.execute(
            PostgresStatement(
                """
                SELECT u.name FROM unnest($1::text[]) WITH ORDINALITY u(name, place)
                WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = u.name) ORDER BY u.place
                """,
                [.textArray(names)],
                prepare: false
            )
        )
        return try result.all { try $0.text() }
    }

    /// What makes a role: whoever is a member of it has its rights, and nobody is it.
    static func creation(of role: String) -> String { "CREATE ROLE \(role) NOLOGIN;" }

    /// What lets a user give the reading role what is its own.
    static func membership(of user: String) -> String { "GRANT \(ViewReader.role) TO \(user);" }

    /// The statements that give the roles, all of which must be there, the rights that they have not.
    static func missingRights(_ connection: PostgresConnection) async throws -> [String] {
        let result = try await connection.execute(
            PostgresStatement(String(cString: schema_rights()), prepare: false)
        )
        return try result.all { try $0.text() }
    }
}

/// What of roles and rights an installation lacks.
public struct SchemaRights: Sendable {
    /// Statements that make the roles that are missing; an administrator of the cluster may run them.
    public let roles: [String]
    /// Statements that give the rights that are missing; migration runs them. Not looked at as long as a role is missing.
    public let grants: [String]

    public init(roles: [String], grants: [String]) {
        self.roles = roles
        self.grants = grants
    }
}

extension Store {
    /// What of roles and rights the database lacks.
    public func missingRights() async throws -> SchemaRights {
        try await with { connection in
            let roles = try await SchemaRoles.missing(connection)
            return SchemaRights(
                roles: roles.map(SchemaRoles.creation),
                grants: roles.isEmpty ? try await SchemaRoles.missingRights(connection) : []
            )
        }
    }
}
