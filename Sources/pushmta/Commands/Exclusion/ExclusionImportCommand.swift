import ArgumentParser
import Store

/// `pushmta exclusion import LIST FILE`.
struct ExclusionImportCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the people in a CSV file to an exclusion list.",
        discussion: """
            The first line names the columns: user_key, subscription_id, push_token, one or more of them; each line fills in one. A \
            malformed line is reported with its number and left out, the rest goes in; the exit status is then 65.
            """
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The list's name.")
    var list: String

    @Argument(help: "The file.")
    var file: String

    func execute(_ loaded: LoadedSettings) async throws {
        var file = try AddresseeFile(path: file, takesVariables: false)
        var (added, read): (Int64, Int64) = (0, 0)
        let store = try await Store.connect(StoreSession.configuration(loaded.values, role: "admin"))
        do {
            while let targets = try file.next() {
                added += try await store.addExclusions(list: list, Addressees(targets))
                read += Int64(targets.count)
            }
            await store.close()
        } catch {
            await store.close()
            throw error
        }
        StandardOutput.line(
            "\(added) added to \(list), \(read - added) were on it already, \(file.faultyLines) lines left out."
        )
        try file.report()
    }
}

extension Addressees {
    /// Whom explicit targets go to.
    init(_ targets: [ExplicitTarget]) {
        self.init()
        for target in targets {
            switch target.addressee {
            case .user(let key): userKeys.append(key)
            case .subscription(let id): subscriptionIDs.append(id)
            case .pushToken(let token): pushTokens.append(token)
            }
        }
    }
}
