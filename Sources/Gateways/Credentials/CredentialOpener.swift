import PushCore

/// Opens an application's credential with this host's key, for a child, the feedback worker and `app test`.
package struct CredentialOpener: Sendable {
    private let settings: Settings
    private let environment: [String: String]

    /// Makes an opener for the key that these settings name.
    ///
    /// - Parameter environment: the process's variables, for systemd's credentials.
    package init(_ settings: Settings, environment: [String: String]) {
        self.settings = settings
        self.environment = environment
    }

    /// Opens a credential.
    ///
    /// - Throws: `GatewaySetupFailure` if this host has no key or the attributes cannot be read, `CredentialError` if
    ///   the seal does not open, `GatewayCredentialError` if the material is not of the stated kind.
    package func open(_ credential: SealedCredential, of application: String) throws -> GatewayCredential {
        let keys: CredentialKeyring
        do throws(CredentialKeyError) {
            keys = try CredentialKeySource.load(settings, environment: environment)
        } catch {
            throw GatewaySetupFailure(
                "credential \(credential.name) of application \(application) cannot be opened: \(error)",
                isHostsFault: true
            )
        }
        let material = try keys.open(credential.sealed, keyID: credential.sealKeyID, credentialID: credential.id)
        switch credential.kind {
        case .apnsKey:
            let text = try attributes(of: credential)
            return .apnsTokenKey(keyID: text("key_id"), teamID: text("team_id"), pem: material)
        case .apnsCertificate:
            let certificate = try SealedCertificate(material: material)
            return .apnsCertificate(pkcs12: certificate.pkcs12, passphrase: certificate.passphrase)
        case .fcmServiceAccount:
            return .serviceAccount(json: material)
        case .fcmProjectKey:
            return .projectKey(String(decoding: material, as: UTF8.self))
        }
    }

    /// The texts of the flat JSON object; "" for a missing one, which the key's own check reports.
    private func attributes(of credential: SealedCredential) throws(GatewaySetupFailure) -> (String) -> String {
        guard case .object(let entries)? = try? JSONValue(parsing: credential.attributes.utf8) else {
            throw GatewaySetupFailure(
                "the options of credential \(credential.name) are not a JSON object",
                isHostsFault: false
            )
        }
        return { name in
            switch entries.first(where: { $0.name == name })?.value {
            case .string(let text), .number(let text): text
            default: ""
            }
        }
    }
}
