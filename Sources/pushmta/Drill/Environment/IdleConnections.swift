import Foundation
import PostgresClient

/// Connections that somebody opens and does nothing with, until the server has no slot left.
actor IdleConnections {
    /// What they are called in `pg_stat_activity`.
    static let role = "idle"

    private let connectionString: String
    private var open: [PostgresConnection] = []

    /// None yet, to the database of this connection string.
    init(_ connectionString: String) {
        self.connectionString = connectionString
    }

    /// Opens more until the server refuses one, or until `most` are open.
    ///
    /// - Returns: How many are open.
    /// - Throws: `PostgresError` if the server refuses for another reason than that all slots are taken.
    func takeAll(atMost most: Int) async throws -> Int {
        while open.count < most {
            do {
                open.append(try await PostgresConnection.connect(configuration))
            } catch let error where Self.isSlotRefusal(error) {
                break
            }
        }
        return open.count
    }

    /// Closes all.
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

    /// libpq gives no SQLSTATE for a refused connection, only the server's words; the cluster's language is English.
    private static func isSlotRefusal(_ error: any Error) -> Bool {
        "\(error)".contains("too many clients") || "\(error)".contains("remaining connection slots")
    }
}
