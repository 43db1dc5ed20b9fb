import ArgumentParser
import Store

/// `pushmta exclusion remove LIST …`.
struct ExclusionRemoveCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Take people off an exclusion list."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The list's name.")
    var list: String

    @OptionGroup var addressees: AddresseeOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let removed = try await StoreSession.run(loaded.values) { store in
            try await store.removeExclusions(list: list, addressees.people)
        }
        StandardOutput.line("\(removed) taken off \(list).")
    }
}
