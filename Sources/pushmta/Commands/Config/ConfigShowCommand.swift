import ArgumentParser
import PushCore

/// `pushmta config show`: every setting with its value and where it came from; secrets are left out.
struct ConfigShowCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show every setting, its value, and where the value came from."
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print JSON.")
    var json = false

    func execute(_ loaded: LoadedSettings) async throws {
        var table = Table(["key", "value", "unit", "source", "variable"])
        for definition in Settings.definitions {
            let value = definition.redactedText(in: loaded.values)
            table.add([
                .text(definition.key), .text(value.isEmpty && !json ? "\"\"" : value), .text(definition.unit),
                .text(loaded.source(of: definition.key).rawValue), .text(SettingsLoader.variable(of: definition)),
            ])
        }
        table.show(json: json)
    }
}
