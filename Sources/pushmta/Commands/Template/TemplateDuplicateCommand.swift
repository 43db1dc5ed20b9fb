import ArgumentParser
import Store

/// `pushmta template duplicate NAME NEW`.
struct TemplateDuplicateCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicate",
        abstract: "Copy a delivery template under another name."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The template to copy.")
    var name: String

    @Argument(help: "The name of the copy.")
    var newName: String

    @Option(help: "What the copy is for (default: as the original).")
    var label: String?

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.duplicateTemplate(named: name, as: newName, label: label)
        }
        StandardOutput.line("Delivery template \(newName) is there, a copy of \(name).")
    }
}
