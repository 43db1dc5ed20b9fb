import ArgumentParser
import Foundation
import PushCore

/// The flags that every subcommand has: where the settings come from.
package struct GlobalOptions: ParsableArguments {
    package init() {}

    @Option(name: .long, help: "The settings file (default: $PUSHMTA_CONFIG, then \(SettingsLoader.usualFile)).")
    package var config: String?

    @Option(name: .long, help: "The database: a libpq connection string or URI. Overrides database.url.")
    package var database: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp("Override a setting, for example mta.child.maxAgeSec=300.", valueName: "key=value")
    )
    package var overrides: [String] = []

    /// The loader for these flags and the environment of this process.
    package var loader: SettingsLoader {
        let databaseFlag = database.map { ["database.url=\($0)"] } ?? []
        return SettingsLoader(
            file: config,
            environment: ProcessInfo.processInfo.environment,
            flags: databaseFlag + overrides
        )
    }

    /// Exports the settings from flags to the environment, so that child processes inherit them.
    ///
    /// They do not go on the command lines of children: a connection string may hold a password, and every user can
    /// see command lines. Call this before anything else in the process reads the environment.
    package func exportFlags() {
        for flag in loader.flags {
            let parts = flag.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let definition = Settings.definitions.first(where: { $0.key == parts[0] }) else {
                continue
            }
            setenv(SettingsLoader.variable(of: definition), String(parts[1]), 1)
        }
    }

    package func load() async throws -> LoadedSettings {
        try await loader.load()
    }
}
