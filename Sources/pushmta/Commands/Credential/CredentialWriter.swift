import Foundation
import Gateways
import PushCore
import Store

/// Seals credentials and binds them to applications.
struct CredentialWriter: Sendable {
    /// Where they go.
    let store: Store
    /// Where the key is named.
    let settings: Settings

    /// Seals and stores something while nobody changes the key: what is sealed under a key that goes meanwhile is lost.
    func locked<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment) else {
            // Sealing says what is missing.
            return try await body()
        }
        return try await source.locked(for: .sealing, store) { _ in try await body() }
    }

    /// Checks that the key is still there under which a credential has been sealed and stored: an editor knows no lock.
    func confirm(_ row: CredentialRow, application: String) throws {
        guard try !CredentialKeyFile.keyring(settings).keyIDs.contains(row.sealKeyID) else { return }
        throw CommandFailure(
            .negative,
            "The key file was changed while the credential of application \(application) was sealed, and does not hold the key \(row.sealKeyID) any more: set the credential again with `pushmta credential set \(application) --key FILE`."
        )
    }

    /// Checks and seals material for an application, which need not be there yet. To be called under the lock.
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
        try await locked {
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
            try confirm(credential, application: application)
        }
    }
}

extension Int64 {
    /// Seconds since 1970 in microseconds.
    fileprivate init(clamping seconds: TimeInterval) {
        self = Int64(exactly: (seconds * 1_000_000).rounded()) ?? .max
    }
}
