import ArgumentParser
import PushCore

/// `pushmta config check`: whether every setting is known and has a value that it may have.
struct ConfigCheckCommand: PushMTACommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check the settings of file, environment and flags."
    )

    @OptionGroup var global: GlobalOptions

    func execute(_ loaded: LoadedSettings) async throws {
        let changed = loaded.sources.count
        let file = loaded.file ?? "no settings file"
        StandardOutput.line(
            "The settings are right (\(file); \(changed) of \(Settings.definitions.count) settings are set)."
        )
    }
}
