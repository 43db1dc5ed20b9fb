import PostgresClient
import Store

extension TestTemplate {
    /// A database with the product's schema.
    package static let migrated: TestTemplate = {
        var template = TestTemplate(name: "template_migrated") { connectionString in
            let name = PostgresApplicationName(role: "template", host: "localhost", pid: 0)
            let configuration = PostgresConfiguration(connectionString, applicationName: name)
            if ShadowNames.areEverywhere { try await ShadowNames.plant(in: configuration) }
            try await Store.migrate(configuration)
            // Many tests create views of people. Tests that need a view hidden from the reader revoke the right
            // themselves.
            let connection = try await PostgresConnection.connect(configuration)
            try await connection.run(
                script: """
                    ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO pushmta_reader;
                    ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO pushmta_reader;
                    """
            )
            await connection.close()
        }
        template.hasShadows = ShadowNames.areEverywhere
        return template
    }()
}

extension TestDatabase {
    /// Clones a database with the product's schema in the shared cluster.
    package static func create() async throws -> TestDatabase { try await create(.migrated) }
}
