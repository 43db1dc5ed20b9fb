import Foundation
import Gateways
import PushCore
import Store

/// Seals credentials and binds them to applications.
package struct CredentialWriter: Sendable {
    package let store: Store
    /// The settings that name the key.
    package let settings: Settings

    package init(store: Store, settings: Settings) {
        self.store = store
        self.settings = settings
    }

    /// Runs `body`, which seals and stores something, while no one changes the key: anything sealed under a key that
    /// is dropped meanwhile is lost.
    package func locked<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment) else {
            // Sealing reports what is missing.
            return try await body()
        }
        return try await source.locked(for: .sealing, store) { _ in try await body() }
    }

    /// Checks that the key under which a credential was sealed and stored still exists: an editor ignores the lock.
    package func confirm(_ row: CredentialRow, application: String) throws {
        guard try !CredentialKeyFile.keyring(settings).keyIDs.contains(row.sealKeyID) else { return }
        throw CommandFailure(
            .negative,
            "While the credential of application \(application) was being sealed, the key file was changed, and it no longer holds the key \(row.sealKeyID): set the credential again with `pushmta credential set \(application) --key FILE`."
        )
    }

    /// Checks and seals material for an application, which need not exist yet. Call it under the lock.
    ///
    /// - Parameter nextID: returns the credential's id; nil uses the database's default, which needs rights on the
    ///   table.
    package func sealed(
        _ material: CredentialMaterial,
        application: String,
        environment: ApplicationEnvironment,
        bundleID: String,
        nextID: (@Sendable () async throws -> Int64)? = nil
    ) async throws -> CredentialRow {
        let now = try await store.databaseClock()
        try material.check(
            environment: environment,
            bundleID: bundleID,
            now: Date(timeIntervalSince1970: Double(now.microsecondsSince1970) / 1_000_000)
        )
        try material.requireAllowed(settings.nmac, try await store.accounts())
        let cipher = try CredentialKeyFile.keyring(settings).current
        let id = if let nextID { try await nextID() } else { try await store.nextCredentialID() }
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

    /// Checks and seals `material`, and makes it the application's credential.
    ///
    /// - Parameter allowsBothEnvironments: whether it may serve applications of both environments.
    package func save(
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
    /// Converts seconds since 1970 to microseconds.
    fileprivate init(clamping seconds: TimeInterval) {
        self = Int64(exactly: (seconds * 1_000_000).rounded()) ?? .max
    }
}
