import ArgumentParser
import Store

/// `pushmta service set NAME …`: changes what is given and leaves the rest.
struct ServiceSetCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change a service; what is not given stays."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The service's name.")
    var name: String

    @Option(help: "Its name for people.")
    var label: String?

    @Option(help: "The target mapping with which its user keys reconcile; an empty name takes it away.")
    var mapping: String?

    func validate() throws {
        guard label == nil, mapping == nil else { return }
        throw ValidationError("Nothing is to be changed: give --label or --mapping.")
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { store in
            try await store.setService(name: name, label: label, mapping: mapping)
        }
        let reconciled = row.mapping.map { "its user keys reconcile in mapping \($0)" } ?? "it has no target mapping"
        StandardOutput.line("Service \(row.name) is changed: \(reconciled).")
    }
}
