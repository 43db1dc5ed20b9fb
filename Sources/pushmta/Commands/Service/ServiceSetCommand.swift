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

    @OptionGroup var proofs: ProofKeyOptions

    func validate() throws {
        guard label == nil, mapping == nil, proofs.isEmpty else { return }
        throw ValidationError("Nothing is to be changed: give --label, --mapping, --user-key-trust or a proof key.")
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let row = try await StoreSession.run(loaded.values) { store in
            let row = try await store.setService(name: name, label: label, mapping: mapping)
            if !proofs.isEmpty { try await proofs.apply(to: name, store, loaded.values) }
            return row
        }
        let reconciled = row.mapping.map { "its user keys reconcile in mapping \($0)" } ?? "it has no target mapping"
        StandardOutput.line("Service \(row.name) is changed: \(reconciled).")
    }
}
