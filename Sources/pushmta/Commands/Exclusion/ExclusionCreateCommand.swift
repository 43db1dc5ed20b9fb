import ArgumentParser
import Store

/// `pushmta exclusion create LIST`.
struct ExclusionCreateCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Create an exclusion list.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var list: String

    @Option(help: "Its name for people (default: the name).")
    var label: String?

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.createExclusionList(name: list, label: label ?? list)
        }
        StandardOutput.line("Exclusion list \(list) is there. Next: pushmta exclusion add \(list) --user KEY")
    }
}
