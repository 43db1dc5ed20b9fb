import Foundation
import PostgresClient
import Store

/// Connections that are opened and left idle, until the server has no slot left.
actor IdleConnections {
    /// Their name in `pg_stat_activity`.
    static let role = "idle"

    private let connectionString: String
    private var open: [PostgresConnection] = []

    /// An empty set of connections to the database of this connection string.
    init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    /// Opens connections until the server refuses one, or until `maximum` are open.
    ///
    /// - Returns: The number of open connections.
    /// - Throws: `PostgresError` if the server refuses for any reason other than that all slots are taken.
    func takeAll(atMost maximum: Int) async throws -> Int {
        while open.count < maximum {
            do {
                open.append(try await PostgresConnection.connect(configuration))
            } catch let error where Self.isSlotRefusal(error) {
                break
            }
        }
        return open.count
    }

    /// Closes all connections.
    func release() async {
        for connection in open { await connection.close() }
        open = []
    }

    private var configuration: PostgresConfiguration {
        PostgresConfiguration(
            connectionString,
            applicationName: PostgresApplicationName(
                role: Self.role,
                host: ProcessInfo.processInfo.hostName,
                pid: ProcessInfo.processInfo.processIdentifier
            )
        )
    }

    /// libpq gives no SQLSTATE for a refused connection, only the server's message. The cluster's language is English.
    private static func isSlotRefusal(_ error: any Error) -> Bool {
        "\(error)".contains("too many clients") || "\(error)".contains("remaining connection slots")
    }
}
