import ArgumentParser
import Store

/// `pushmta service add NAME`.
struct ServiceAddCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a service.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var name: String

    @Option(help: "Its name for people (default: the name).")
    var label: String?

    @Option(help: "The target mapping with which its user keys reconcile.")
    var mapping: String?

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { store in
            try await store.createService(name: name, label: label ?? name, mapping: mapping)
        }
        StandardOutput.line("Service \(row.name) is there. Next: pushmta app add NAME --service \(row.name) …")
    }
}
