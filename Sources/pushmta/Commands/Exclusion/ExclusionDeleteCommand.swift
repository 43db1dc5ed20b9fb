import ArgumentParser
import Store

/// `pushmta exclusion delete LIST`.
struct ExclusionDeleteCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an exclusion list that no delivery has."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The list's name.")
    var list: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.deleteExclusionList(name: list) }
        StandardOutput.line("Exclusion list \(list) is deleted.")
    }
}
