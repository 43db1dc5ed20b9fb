import ArgumentParser
import PushCore
import Store

/// `pushmta exclusion remove LIST …`.
struct ExclusionRemoveCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Take people off an exclusion list.",
        discussion: "Exit status 1 if none of them is on it."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The list's name.")
    var list: String

    @OptionGroup var addressees: AddresseeOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let removed = try await StoreSession.run(loaded.values) { store in
            try await store.removeExclusions(list: list, addressees.people)
        }
        let wanted = Int64(Set(addressees.userKeys).count + Set(addressees.subscriptionIDs).count)
        let missing = wanted + Int64(Set(addressees.pushTokens.map(Self.stored)).count) - removed
        guard removed > 0 else {
            throw CommandFailure(
                .negative,
                "Nobody was taken off \(list): none of those who were named is on it. `pushmta exclusion list \(list)` shows who is."
            )
        }
        StandardOutput.line("\(removed) taken off \(list)." + (missing > 0 ? " \(missing) not on it." : ""))
    }

    /// A token as lists keep it: an APNs token in lower case.
    private static func stored(_ token: String) -> String {
        PushTokenForm.problem(token, .ios) == nil ? token.lowercased() : token
    }
}
