import PostgresClient
import TestSupport
import Testing

@Suite struct TLSTests {
    @Test func verifiedConnectionCarriesLargeResults() async throws {
        let cluster = try await TestCluster.start(tlsPort: FreePort.find())
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        let string = cluster.tlsConnectionString(sslmode: "verify-full")
        let connection = try await PostgresConnection.connect(PostgresConfiguration(string, applicationName: name))
        let encrypted = PostgresStatement("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
        #expect(try await connection.execute(encrypted).bool(0, 0))
        let block = [UInt8](repeating: 9, count: 5_000_000)
        let echo = PostgresStatement("SELECT $1::bytea", [.bytes(block)])
        #expect(try await connection.execute([echo, echo]).allSatisfy { try $0.bytes(0, 0) == block })
        let many = PostgresStatement("SELECT n, repeat('x', 100) FROM generate_series(1, 100000) n")
        #expect(try await connection.execute(many).rowCount == 100_000)
        var bytes = 0
        for try await chunk in connection.copyOut("COPY (SELECT generate_series(1, 300000)) TO STDOUT") {
            bytes += chunk.count
        }
        #expect(bytes == 1_988_895)
        await connection.close()
        try await cluster.stop()
    }

    @Test func untrustedServerIsRefused() async throws {
        let cluster = try await TestCluster.start(tlsPort: FreePort.find())
        let name = PostgresApplicationName(role: "test", host: "localhost", pid: 1)
        let string = cluster.tlsConnectionString(sslmode: "verify-full") + " host=127.0.0.1"
        let error = try await postgresError {
            _ = try await PostgresConnection.connect(PostgresConfiguration(string, applicationName: name))
        }
        #expect(error.description.contains("certificate"))
        try await cluster.stop()
    }
}
