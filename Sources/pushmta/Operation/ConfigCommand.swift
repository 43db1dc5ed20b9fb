import Administration
import ArgumentParser
import PushCore

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Check or show the settings.",
        subcommands: [ConfigCheckCommand.self, ConfigShowCommand.self]
    )
}

/// `pushmta config show`: every setting with its value and its source, without secrets.
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

/// `pushmta config check`: whether every setting is known and has a permitted value, and whether the processes could
/// use it.
struct ConfigCheckCommand: SentenceCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the settings of file, environment and flags.",
        discussion: """
            It checks what the processes would refuse at startup: keys and ranges, paths, the key file, certificates, \
            folders. It changes nothing and needs no database; `pushmta doctor` checks the rest. Exit status 78 if \
            something is wrong.
            """
    )

    @OptionGroup var global: GlobalOptions
    @OptionGroup var sentences: SentenceOptions
    @OptionGroup var user: CheckUser

    func run() async throws {
        try await told {
            try user.take()
            try await execute(try await global.load())
        }
    }

    func execute(_ loaded: LoadedSettings) async throws {
        let results = SettingsChecks(loaded: loaded).results
        for result in results where result.result == .warning {
            StandardError.write("warning: \(result.subject): \(result.detail)\n")
        }
        let failed = results.filter { $0.result == .failed }
        guard failed.isEmpty else {
            let lines = failed.map { "\($0.subject): \($0.detail)" }
            throw CommandFailure(.configuration, lines.joined(separator: "\npushmta: "))
        }
        let changed = loaded.sources.count
        let file = loaded.file ?? "no settings file"
        StandardOutput.line(
            "The settings are valid (\(file); \(changed) of \(Settings.definitions.count) settings are set).",
            [("file", Cell(loaded.file)), ("set", Cell(changed))]
        )
    }
}
