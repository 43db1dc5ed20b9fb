import Foundation
import PushCore
import Store

/// Seals credentials and binds them to applications.
struct CredentialWriter: Sendable {
    /// Where they go.
    let store: Store
    /// Where the key is named.
    let settings: Settings

    /// Checks and seals material for an application, which need not be there yet.
    func sealed(
        _ material: CredentialMaterial,
        application: String,
        environment: ApplicationEnvironment,
        bundleID: String
    ) async throws -> CredentialRow {
        let now = try await store.databaseClock()
        try material.check(
            environment: environment,
            bundleID: bundleID,
            now: Date(timeIntervalSince1970: Double(now.microsecondsSince1970) / 1_000_000)
        )
        let cipher = try CredentialKeyFile.keyring(settings).current
        let id = try await store.nextCredentialID()
        return CredentialRow(
            id: id,
            kind: material.kind,
            name: "\(application)-\(id)",
            sealKeyID: cipher.keyID,
            sealed: try cipher.seal(material.bytes, credentialID: id),
            attributes: material.attributes,
            fingerprint: material.fingerprint,
            expiresAt: material.expiresAt.map {
                DatabaseTime(microsecondsSince1970: Int64(clamping: $0.timeIntervalSince1970))
            }
        )
    }

    /// Checks and seals `material` and makes it the application's credential.
    ///
    /// - Parameter allowsBothEnvironments: whether it may serve applications of both environments.
    func save(
        _ material: CredentialMaterial,
        application: String,
        allowsBothEnvironments: Bool = false
    ) async throws {
        let row = try await store.application(named: application)
        let credential = try await sealed(
            material,
            application: application,
            environment: row.environment,
            bundleID: row.bundleID
        )
        try await store.saveCredential(
            credential,
            application: application,
            allowsBothEnvironments: allowsBothEnvironments
        )
    }
}

extension Int64 {
    /// Seconds since 1970 in microseconds.
    fileprivate init(clamping seconds: TimeInterval) {
        self = Int64(exactly: (seconds * 1_000_000).rounded()) ?? .max
    }
}
