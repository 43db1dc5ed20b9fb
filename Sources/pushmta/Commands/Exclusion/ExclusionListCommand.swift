import ArgumentParser
import Store

/// `pushmta exclusion list`: the lists, or who is on one.
struct ExclusionListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the exclusion lists, or who is on one of them."
    )

    @OptionGroup var global: GlobalOptions

    @Argument(help: "A list's name: then its people.")
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
