import PostgresClient

/// The templates of a cluster, each made once, by the first test that needs it.
actor TemplateStore {
    private var templates: [String: Task<Void, any Error>] = [:]

    /// Makes the template unless it was made.
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
