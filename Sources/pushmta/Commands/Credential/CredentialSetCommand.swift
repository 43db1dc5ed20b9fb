import ArgumentParser
import PushCore
import Store

/// `pushmta credential set APP --key FILE`.
struct CredentialSetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "set", abstract: "Set an application's credential.")

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
            try await CredentialWriter(store: store, settings: loaded.values).save(material, application: application)
            StandardOutput.line("Application \(application) has the credential \(material.fingerprint.prefix(16))…")
        }
    }
}
