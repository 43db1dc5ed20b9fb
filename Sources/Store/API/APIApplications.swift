import PostgresClient
import PushCore

/// An application as the API shows it; of its credential only whether there is one.
package struct APIApplicationRow: Sendable {
    package let id: Int32
    package let name: String
    /// The display name.
    package let label: String
    package let service: String
    package let platform: Platform
    /// `production` or `sandbox`.
    package let environment: String
    /// The key with which devices register.
    package let integrationKey: String
    /// Its bundle id or package name, "" if unknown.
    package let bundleID: String
    /// Whether it has a credential.
    package let hasCredential: Bool
    /// `closed`, `open` or `probing`: only a closed circuit sends messages.
    package let circuit: String
    /// Why the circuit is not closed, "" if it is.
    package let circuitReason: String
}

extension Store {
    /// All applications by name, as the API shows them.
    package func apiApplications() async throws -> [APIApplicationRow] {
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
