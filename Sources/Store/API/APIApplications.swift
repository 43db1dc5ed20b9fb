import PostgresClient
import PushCore

/// An application as the API shows it; nothing of its credential but whether there is one.
public struct APIApplicationRow: Sendable {
    /// Its id.
    public let id: Int32
    /// Its name.
    public let name: String
    /// What people call it.
    public let label: String
    /// Its service.
    public let service: String
    /// Its platform.
    public let platform: Platform
    /// Its environment.
    public let environment: String
    /// What devices name it by when they register.
    public let integrationKey: String
    /// Its bundle id or package name, "" if it is not known.
    public let bundleID: String
    /// Whether it can be sent to, as far as a credential is concerned.
    public let hasCredential: Bool
    /// `closed`, `open` or `probing`: whether its messages are sent.
    public let circuit: String
    /// Why they are not, "" if they are.
    public let circuitReason: String
}

extension Store {
    /// All applications by name, as the API shows them.
    public func apiApplications() async throws -> [APIApplicationRow] {
        let result = try await query(
            """
            SELECT a.id, a.name, a.label, a.service, a.platform, a.environment, a.integration_key, a.bundle_id, a.has_credential,
                a.circuit, a.circuit_reason
            FROM pushmta_engine.api_applications() a
            """
        )
        return try all(result) { rows, row in
            APIApplicationRow(
                id: try rows.int32(row, 0),
                name: try rows.text(row, 1),
                label: try rows.text(row, 2),
                service: try rows.text(row, 3),
                platform: try choice(rows, row, 4),
                environment: try rows.text(row, 5),
                integrationKey: try rows.text(row, 6),
                bundleID: try rows.text(row, 7),
                hasCredential: try rows.bool(row, 8),
                circuit: try rows.text(row, 9),
                circuitReason: try rows.text(row, 10)
            )
        }
    }
}
