import Console
import PushCore
import Store

/// Checks, seals and stores credentials that people upload to the console, as `pushmta credential set` does.
package enum ConsoleCredentials {
    /// What the console needs to seal a credential.
    package static func sealing(_ settings: Settings) -> CredentialSealing {
        CredentialSealing(
            problem: {
                do {
                    _ = try CredentialKeyFile.keyring(settings).current
                    return nil
                } catch {
                    return "\(error)"
                }
            },
            save: { upload, store, actor in
                do {
                    try await save(upload, store, settings, actor)
                } catch let failure as CommandFailure {
                    throw CredentialRefusal(failure.description)
                }
            },
            seal: { secret, id in
                let cipher = try CredentialKeyFile.keyring(settings).current
                return SealedWebhookSecret(
                    id: id,
                    sealKeyID: cipher.keyID,
                    sealed: try cipher.seal(secret, credentialID: id)
                )
            }
        )
    }

    private static func save(
        _ upload: CredentialUpload,
        _ store: Store,
        _ settings: Settings,
        _ actor: ConsoleActor
    ) async throws {
        let application = upload.application
        let material = try CredentialMaterial(
            contents: upload.material,
            naming: .form,
            platform: application.platform,
            keyID: upload.keyID,
            teamID: upload.teamID,
            passphrase: { upload.passphrase }
        )
        if upload.isForBoth { try material.requireBothEnvironments(.form) }
        let writer = CredentialWriter(store: store, settings: settings)
        try await writer.locked {
            let row = try await writer.sealed(
                material,
                application: application.name,
                environment: application.environment,
                bundleID: application.bundleID,
                nextID: { try await store.nextCredentialID(by: actor) }
            )
            try await store.saveCredential(
                row,
                application: application.name,
                allowsBothEnvironments: upload.isForBoth,
                by: actor
            )
            try writer.confirm(row, application: application.name)
        }
    }
}
