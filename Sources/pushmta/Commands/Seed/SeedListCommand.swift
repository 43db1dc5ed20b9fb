import ArgumentParser
import PushCore
import Store

/// `pushmta seed list`.
struct SeedListCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the seed addresses.",
        discussion: "A problem says why a seed address cannot get anything."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        let rows = try await StoreSession.run(loaded.values) { try await $0.seeds() }
        var table = Table([
            "name", "label", "application", "platform", "subscription", "push_token", "locale", "variables",
            "seed_only",
            "problem",
        ])
        for row in rows {
            table.add([
                .text(row.name), .text(row.label), .text(row.application), .text(row.platform.rawValue),
                .integer(row.subscriptionID), .text(row.pushToken), .text(row.locale), .text(row.variables),
                .flag(row.isSeedOnly), .text(row.problem),
            ])
        }
        table.show(json: json)
    }
}
