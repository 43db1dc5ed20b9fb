import PostgresClient
import Schema

/// The roles of the schema, none of which can log in. They are granted to the users of each kind.
///
/// Their rights are in `Sources/Schema/rights.sql`: each migration grants missing ones, and `doctor` reports them.
enum SchemaRoles {
    /// Their names, in the order in which they are created.
    static let names = [
        "pushmta_runtime", "pushmta_marketing", "pushmta_tokens", "pushmta_monitoring", "pushmta_raw_sql",
        "pushmta_events",
        Store.webRole, Store.consoleRole, ViewReader.role, ViewReader.signalRole,
    ]

    /// The roles that the cluster lacks.
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

    /// Creates a role. Its members have its rights; nobody can log in as it.
    static func creation(of role: String) -> String { "CREATE ROLE \(role) NOLOGIN;" }

    /// The roles that own functions of the schema.
    static let owning = [ViewReader.role, ViewReader.signalRole]

    /// Lets a user transfer the reading roles' objects to these roles.
    static func membership(of user: String) -> String { "GRANT \(owning.joined(separator: ", ")) TO \(user);" }

    /// The statements that grant the roles their missing rights; all roles must exist.
    static func missingRights(_ connection: PostgresConnection) async throws -> [String] {
        let result = try await connection.execute(
            PostgresStatement(String(cString: schema_rights()), prepare: false)
        )
        return try result.all { try $0.text() }
    }
}

/// The roles and rights that an installation lacks.
package struct SchemaRights: Sendable {
    /// Statements that create missing roles; an administrator of the cluster can run them.
    package let roles: [String]
    /// Statements that grant missing rights; migration runs them. Not checked while a role is missing.
    package let grants: [String]

    package init(roles: [String], grants: [String]) {
        self.roles = roles
        self.grants = grants
    }
}

extension Store {
    /// The roles and rights that the database lacks.
    package func missingRights() async throws -> SchemaRights {
        try await with { connection in
            let roles = try await SchemaRoles.missing(connection)
            return SchemaRights(
                roles: roles.map(SchemaRoles.creation),
                grants: roles.isEmpty ? try await SchemaRoles.missingRights(connection) : []
            )
        }
    }
}
