import PostgresClient
import Store

extension TestTemplate {
    /// A database with the product's schema.
    public static let migrated = TestTemplate(name: "template_migrated") { connectionString in
        let name = PostgresApplicationName(role: "template", host: "localhost", pid: 0)
        try await Store.migrate(PostgresConfiguration(connectionString, applicationName: name))
    }
}

extension TestDatabase {
    /// Clones a database with the product's schema in the shared cluster.
    public static func create() async throws -> TestDatabase { try await create(.migrated) }
}
