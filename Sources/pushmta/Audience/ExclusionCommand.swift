import Administration
import ArgumentParser
import PushCore
import Store

struct ExclusionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "exclusion",
        abstract: "Exclusion lists: people who get nothing from the deliveries that use them.",
        discussion: """
            A delivery uses a list with `delivery create --exclude LIST`. People left out because of it are recorded \
            with the reason exclusion_list.
            """,
        subcommands: [
            ExclusionCreateCommand.self, ExclusionAddCommand.self, ExclusionImportCommand.self,
            ExclusionRemoveCommand.self, ExclusionListCommand.self, ExclusionDeleteCommand.self,
        ]
    )
}

/// `pushmta exclusion create LIST`.
struct ExclusionCreateCommand: SentenceCommand {
    static let configuration = CommandConfiguration(commandName: "create", abstract: "Create an exclusion list.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "Its name in commands and SQL, unique.")
    var list: String

    @Option(help: "Its name for people (default: the name).")
    var label: String?

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { store in
            try await store.createExclusionList(name: list, label: label ?? list)
        }
        StandardOutput.line("Exclusion list \(list) was created. Next: pushmta exclusion add \(list) --user KEY")
    }
}

/// `pushmta exclusion add LIST …`.
struct ExclusionAddCommand: SentenceCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add people to an exclusion list.")

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The list's name.")
    var list: String

    @OptionGroup var addressees: AddresseeOptions

    func validate() throws {
        try addressees.validateForm()
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let (added, unknown) = try await StoreSession.run(loaded.values) { store in
            let added = try await store.addExclusions(list: list, addressees.people)
            return (added, try await store.unknownPlaces(addressees.each).count)
        }
        let strangers =
            unknown > 0
            ? " \(unknown) of them match no subscription: check that they are written as the app registers them." : ""
        StandardOutput.line(
            "\(added) added to \(list), \(Int64(addressees.people.count) - added) already on it.\(strangers)"
        )
    }
}

/// `pushmta exclusion remove LIST …`.
struct ExclusionRemoveCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove people from an exclusion list.",
        discussion: "Exit status 1 if none of them is on it."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

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
                "No one was removed from \(list), as none of these people are on it. `pushmta exclusion list \(list)` shows who is."
            )
        }
        StandardOutput.line("\(removed) removed from \(list)." + (missing > 0 ? " \(missing) not on it." : ""))
    }

    /// A token as lists store it: an APNs token in lower case.
    private static func stored(_ token: String) -> String {
        PushTokenForm.problem(token, .ios) == nil ? token.lowercased() : token
    }
}

/// `pushmta exclusion import LIST FILE`.
struct ExclusionImportCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Add the people in a CSV file to an exclusion list.",
        discussion: """
            The first line names the columns: user_key, subscription_id and push_token, one or more of them. Each line \
            fills in exactly one. A malformed line is reported with its number and skipped, and the rest is added; the \
            exit status is then 65. It is also 65 if a quote that is never closed has swallowed the rest of the file. \
            The report says on which line the quote opens, and how many lines were never read.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The list's name.")
    var list: String

    @Argument(help: "The file.")
    var file: String

    func execute(_ loaded: LoadedSettings) async throws {
        var file = try AddresseeFile(path: file, takesVariables: false)
        var (added, read): (Int64, Int64) = (0, 0)
        let store = try await StoreSession.open(loaded.values)
        do {
            while let lines = try file.next() {
                let addressees = lines.map(\.target.addressee)
                added += try await store.addExclusions(list: list, Addressees(addressees))
                file.noteStrangers(try await store.unknownPlaces(addressees), of: lines)
                read += Int64(addressees.count)
            }
            await store.close()
        } catch {
            await store.close()
            throw error
        }
        StandardOutput.line(
            "\(added) added to \(list), \(read - added) already on it\(file.strangerWords), \(file.faultyLines) lines skipped "
                + "(\(read + Int64(file.faultyLines)) lines).",
            [("list", .text(list)), ("added", Cell(added)), ("left_out", Cell(file.faultyLines))]
        )
        try file.report()
    }
}

/// `pushmta exclusion list`: the lists, or the people on one.
struct ExclusionListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the exclusion lists, or the people on one of them."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "The name of a list whose people are listed.")
    var list: String?

    @OptionGroup var limit: RowLimit

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let table = try await StoreSession.run(loaded.values) { store in
            guard let list else { return Self.table(try await store.exclusionLists()) }
            return Self.table(try await store.exclusions(list: list, limit: limit.rows))
        }
        table.show(json: json)
    }

    private static func table(_ lists: [ExclusionListRow]) -> Table {
        var table = Table(["name", "label", "user_keys", "subscriptions", "push_tokens"])
        for list in lists {
            table.add([
                .text(list.name), .text(list.label), .integer(list.userKeys), .integer(list.subscriptions),
                .integer(list.pushTokens),
            ])
        }
        return table
    }

    private static func table(_ people: Addressees) -> Table {
        var table = Table(["by", "value"])
        for key in people.userKeys { table.add(["user_key", .text(key)]) }
        for id in people.subscriptionIDs { table.add(["subscription_id", .text(String(id))]) }
        for token in people.pushTokens { table.add(["push_token", .text(token)]) }
        return table
    }
}

/// `pushmta exclusion delete LIST`.
struct ExclusionDeleteCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an exclusion list that no delivery uses."
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions

    @Argument(help: "The list's name.")
    var list: String

    func execute(_ loaded: LoadedSettings) async throws {
        try await StoreSession.run(loaded.values) { try await $0.deleteExclusionList(name: list) }
        StandardOutput.line("Exclusion list \(list) was deleted.")
    }
}
