import ArgumentParser
import Store

/// `pushmta seed remove NAME`.
struct SeedRemoveCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a seed address.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "Its name.")
    var name: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.removeSeed(named: name) }
        StandardOutput.line("Seed address \(name) is gone.")
    }
}
