import PostgresClient
import Synchronization

/// A database of one test: a clone of a template.
///
/// It goes with the cluster at the end of the run, or with ``drop()`` when a test makes much data. Letting go of this value
/// drops nothing: a test may still use connections and strings that it got from it.
public final class TestDatabase: Sendable {
    /// The database's name.
    public let name: String
    /// The cluster it is in.
    public let cluster: TestCluster
    /// The libpq connection string.
    public var connectionString: String { cluster.connectionString(database: name) }

    private static let count = Atomic<Int>(0)

    private init(name: String, cluster: TestCluster) {
        self.name = name
        self.cluster = cluster
    }

    /// Clones the template in the shared cluster.
    public static func create(_ template: TestTemplate) async throws -> TestDatabase {
        try await create(template, in: .shared())
    }

    /// Clones the template in a cluster.
    public static func create(_ template: TestTemplate, in cluster: TestCluster) async throws -> TestDatabase {
        try await cluster.templates.make(template, in: cluster)
        let name = "test_\(count.add(1, ordering: .relaxed).newValue)"
        let connection = try await cluster.connect()
        try await connection.run(script: "CREATE DATABASE \(name) TEMPLATE \"\(template.name)\"")
        await connection.close()
        let database = TestDatabase(name: name, cluster: cluster)
        if template.hasShadows { try await ShadowNames.lead(to: database.configuration()) }
        return database
    }

    /// How to connect to it.
    public func configuration(role: String = "test") -> PostgresConfiguration {
        let name = PostgresApplicationName(role: role, host: "localhost", pid: 0)
        return PostgresConfiguration(connectionString, applicationName: name)
    }

    /// A connection to it, for SQL of a test's own: it looks names up as psql would.
    public func connect(role: String = "test") async throws -> PostgresConnection {
        try await .forPeople(configuration(role: role))
    }

    /// Drops the database now and ends all connections to it.
    public func drop() async throws {
        let connection = try await cluster.connect()
        try await connection.run(script: "DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
        await connection.close()
    }
}

extension PostgresConnection {
    /// A connection that looks names up where the server says, as one of psql does, and creates in `public`, and not in `pg_catalog` alone.
    public static func forPeople(_ configuration: PostgresConfiguration) async throws -> PostgresConnection {
        let connection = try await connect(configuration)
        try await connection.execute(PostgresStatement("SET search_path = public", prepare: false))
        return connection
    }
}
