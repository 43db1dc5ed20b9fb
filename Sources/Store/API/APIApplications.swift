import PostgresClient
import PushCore

/// An application as the API shows it; nothing of its credential but whether there is one.
public struct APIApplicationRow: Sendable {
    public let id: Int32
    public let name: String
    /// The name people see.
    public let label: String
    public let service: String
    public let platform: Platform
    /// `production` or `sandbox`.
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
        return try all(result) { row in
            APIApplicationRow(
                id: try row.int32(),
                name: try row.text(),
                label: try row.text(),
                service: try row.text(),
                platform: try row.choice(),
                environment: try row.text(),
                integrationKey: try row.text(),
                bundleID: try row.text(),
                hasCredential: try row.bool(),
                circuit: try row.text(),
                circuitReason: try row.text()
            )
        }
    }
}
