import ArgumentParser
import Foundation
import PushCore

/// The flags that every subcommand has: where the settings come from.
struct GlobalOptions: ParsableArguments {
    @Option(name: .long, help: "The settings file (default: $PUSHMTA_CONFIG, then \(SettingsLoader.usualFile)).")
    var config: String?

    @Option(name: .long, help: "The database: a libpq connection string or URI. Overrides database.url.")
    var database: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Overrides a setting, as in mta.child.maxAgeSec=300.", valueName: "key=value")
    )
    var overrides: [String] = []

    /// The loader for these flags and this process's environment.
    var loader: SettingsLoader {
        let databaseFlag = database.map { ["database.url=\($0)"] } ?? []
        return SettingsLoader(
            file: config,
            environment: ProcessInfo.processInfo.environment,
            flags: databaseFlag + overrides
        )
    }

    /// Puts what the flags set into the environment, so that processes that this one starts have it, too.
    ///
    /// Not on their command lines: a connection string may hold a password, and everybody sees command lines. Call it before
    /// anything else of the process reads the environment.
    func exportFlags() {
        for flag in loader.flags {
            let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let definition = Settings.definitions.first(where: { $0.key == parts[0] }) else {
                continue
            }
            setenv(SettingsLoader.variable(of: definition), String(parts[1]), 1)
        }
    }

    /// Reads the settings.
    func load() async throws -> LoadedSettings {
        try await loader.load()
    }
}
