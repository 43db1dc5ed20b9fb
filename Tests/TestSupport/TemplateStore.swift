import PostgresClient

/// The templates of a cluster. The first test that needs a template creates it.
actor TemplateStore {
    private var templates: [String: Task<Void, any Error>] = [:]

    /// Creates the template unless it exists.
    func make(_ template: TestTemplate, in cluster: TestCluster) async throws {
        let task =
            templates[template.name]
            ?? Task {
                let connection = try await cluster.connect()
                try await connection.run(script: "CREATE DATABASE \"\(template.name)\"")
                await connection.close()
                try await template.prepare(cluster.connectionString(database: template.name))
            }
        templates[template.name] = task
        try await task.value
    }
}
