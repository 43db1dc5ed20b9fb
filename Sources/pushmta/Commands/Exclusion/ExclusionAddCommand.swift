import ArgumentParser
import Store

/// `pushmta exclusion add LIST …`.
struct ExclusionAddCommand: PushMTACommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add people to an exclusion list.")

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The list's name.")
    var list: String

    @OptionGroup var addressees: AddresseeOptions

    func validate() throws {
        try addressees.validateForm()
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let added = try await StoreSession.run(loaded.values) { store in
            try await store.addExclusions(list: list, addressees.people)
        }
        StandardOutput.line("\(added) added to \(list), \(Int64(addressees.people.count) - added) were on it already.")
    }
}
