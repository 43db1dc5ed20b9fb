import PostgresClient
import Synchronization

/// A database of one test: a clone of a template.
///
/// It is removed with the cluster at the end of the run, or with ``drop()`` if a test creates much data. Releasing this
/// value does not drop it: a test may still use its connections and connection strings.
package final class TestDatabase: Sendable {
    /// The database's name.
    package let name: String
    /// The cluster that contains it.
    package let cluster: TestCluster
    /// The libpq connection string.
    package var connectionString: String { cluster.connectionString(database: name) }

    private static let count = Atomic<Int>(0)

    private init(name: String, cluster: TestCluster) {
        self.name = name
        self.cluster = cluster
    }

    /// Clones the template in the shared cluster.
    package static func create(_ template: TestTemplate) async throws -> TestDatabase {
        try await create(template, in: .shared())
    }

    /// Clones the template in a cluster.
    package static func create(_ template: TestTemplate, in cluster: TestCluster) async throws -> TestDatabase {
        try await cluster.templates.make(template, in: cluster)
        let name = "test_\(count.add(1, ordering: .relaxed).newValue)"
        let connection = try await cluster.connect()
        try await connection.run(script: "CREATE DATABASE \(name) TEMPLATE \"\(template.name)\"")
        await connection.close()
        let database = TestDatabase(name: name, cluster: cluster)
        if template.hasShadows { try await ShadowNames.lead(to: database.configuration()) }
        return database
    }

    /// The configuration of a connection to it.
    package func configuration(role: String = "test") -> PostgresConfiguration {
        let name = PostgresApplicationName(role: role, host: "localhost", pid: 0)
        return PostgresConfiguration(connectionString, applicationName: name)
    }

    /// A connection for a test's own SQL, with the search path of psql.
    package func connect(role: String = "test") async throws -> PostgresConnection {
        try await .forPeople(configuration(role: role))
    }

    /// Drops the database now and closes all connections to it.
    package func drop() async throws {
        let connection = try await cluster.connect()
        try await connection.run(script: "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        await connection.close()
    }
}

extension PostgresConnection {
    /// A connection with the server's search path, like one of psql. It creates objects in `public`, not only in
    /// `pg_catalog`.
    package static func forPeople(_ configuration: PostgresConfiguration) async throws -> PostgresConnection {
        let connection = try await connect(configuration)
        try await connection.execute(PostgresStatement("SET search_path = public", prepare: false))
        return connection
    }
}
