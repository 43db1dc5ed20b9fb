import ArgumentParser
import PushCore
import Store

/// `pushmta credential set APP --key FILE`.
struct CredentialSetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Set an application's credential.",
        discussion: """
            Refused are files that cannot be used, certificates whose time is over, that are for the other environment or for \
            another bundle id, and a certificate that an application of the other environment has already.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The application's name.")
    var application: String

    @OptionGroup var credential: CredentialOptions

    func validate() throws {
        guard credential.key != nil else { throw ValidationError("Missing --key: give the credential's file.") }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            let row = try await store.application(named: application)
            guard let material = try credential.material(row.platform) else { return }
            try await CredentialWriter(store: store, settings: loaded.values).save(
                material,
                application: application,
                allowsBothEnvironments: credential.bothEnvironments
            )
            StandardOutput.line("Application \(application) has the credential \(material.fingerprint.prefix(16))…")
            try await say(of: row, material, store)
        }
    }

    /// What the operator should know besides.
    private func say(of row: ApplicationRow, _ material: CredentialMaterial, _ store: Store) async throws {
        try await CredentialExpiry.tell(material, application: row.name, store)
        guard let account = try await store.accounts().first(where: { $0.id == row.accountID }),
            !material.kind.suits(account.connector)
        else { return }
        StandardError.write(
            "pushmta: the application's external account \(account.name) is of connector \(account.connector.rawValue), which does not take \(material.kind.text): deliveries need another account, or another credential.\n"
        )
    }
}
