import PushCore
import Store

/// Seals credentials and binds them to applications.
struct CredentialWriter: Sendable {
    /// Where they go.
    let store: Store
    /// Where the key is named.
    let settings: Settings

    /// Seals `material` and makes it the application's credential.
    func save(_ material: CredentialMaterial, application: String) async throws {
        let cipher = try CredentialKeyFile.cipher(settings)
        let id = try await store.nextCredentialID()
        let row = CredentialRow(
            id: id,
            kind: material.kind,
            name: "\(application)-\(id)",
            sealKeyID: cipher.keyID,
            sealed: try cipher.seal(material.bytes, credentialID: id),
            attributes: material.attributes,
            fingerprint: material.fingerprint,
            expiresAt: nil
        )
        try await store.saveCredential(row, application: application)
    }
}
